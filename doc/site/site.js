// Colours of code, a button that copies an example without prompts and answers, and the search.
// Every page can be read without this script.

const top_ = document.body.dataset.top

// --- Code ---

for (const code of document.querySelectorAll('pre.language-ocaml code, pre.language-dune code, pre.session .input')) {
  if (!window.hljs) break
  const language = code.closest('pre').classList.contains('language-dune') ? 'lisp' : 'ocaml'
  if (hljs.getLanguage(language)) code.innerHTML = hljs.highlight(language, code.textContent, true).value
}

function textOf(pre) {
  const inputs = pre.querySelectorAll('.input')
  if (inputs.length === 0) return pre.querySelector('code').textContent
  let text = ''
  for (const input of inputs) {
    const starts = input.previousSibling.textContent.startsWith('#')
    text += (text && starts ? ';;\n' : text ? '\n' : '') + input.textContent
  }
  return text
}

for (const pre of document.querySelectorAll('pre')) {
  if (!navigator.clipboard || !pre.querySelector('code')) continue
  const button = document.createElement('button')
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(textOf(pre))
    button.textContent = 'Copied'
  })
  pre.append(button)
}

// --- Search ---

const load = file => new Promise((done, failed) => {
  const script = document.createElement('script')
  Object.assign(script, { src: top_ + file, onload: done, onerror: failed })
  document.head.append(script)
})

// The words by which a text is found. For example, Stream.take is found by the whole name and by each part.
function words(text) {
  const found = text.toLowerCase().match(/[\p{L}\p{N}_'.]+/gu) || []
  return found.flatMap(word => {
    const whole = word.replace(/^\.+|\.+$/g, '')
    const parts = whole.split('.')
    return parts.length > 1 ? [whole, ...parts.map((_, i) => parts.slice(i).join('.')), ...parts] : [whole]
  })
}

let index
function build() {
  const tokens = text => words(text || '').map(word => new lunr.Token(word))
  index = lunr(function () {
    this.tokenizer = tokens
    this.pipeline.reset()
    this.pipeline.add(lunr.stopWordFilter, lunr.stemmer)
    this.searchPipeline.reset()
    this.ref('n')
    this.field('title', { boost: 8 })
    this.field('kind', { boost: 2 })
    this.field('text')
    entries.forEach((entry, n) => this.add({ ...entry, n }, { boost: entry.kind === 'page' ? 3 : 1 }))
  })
}

function find(query) {
  const asked = query.toLowerCase().match(/[\p{L}\p{N}_'.]+/gu) || []
  if (asked.length === 0) return []
  const found = index.query(q => {
    asked.forEach((word, i) => {
      const stem = lunr.stemmer(new lunr.Token(word)).toString()
      q.term(word, { boost: 10, usePipeline: false })
      q.term(stem, { boost: 5, usePipeline: false })
      if (i === asked.length - 1) q.term(word, { boost: 1, usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING })
    })
  })
  // A page that has more of the words comes first, however often it has one of them.
  const has = entry => asked.filter(word => (entry.title + ' ' + entry.kind + ' ' + entry.text).toLowerCase().includes(word)).length
  return found.map(({ ref, score }) => ({ entry: entries[ref], score: score + 1000 * has(entries[ref]) }))
    .sort((a, b) => b.score - a.score).slice(0, 12).map(result => result.entry)
}

const search = document.querySelector('.search')
if ('searches' in document.body.dataset) {
  const input = search.querySelector('input'), list = search.querySelector('ol')
  search.hidden = false
  let ready
  const prepare = () => ready = ready || Promise.all([load('lunr.js'), load('entries.js')]).then(build)
  const close = () => list.replaceChildren()
  const show = async () => {
    await prepare()
    const query = input.value.trim()
    const items = find(query).map(entry => {
      const item = document.createElement('li'), link = document.createElement('a'), small = document.createElement('small')
      link.href = top_ + entry.url
      link.textContent = entry.title
      small.textContent = entry.kind + (entry.text ? ': ' + entry.text.slice(0, 100) : '')
      link.append(small)
      item.append(link)
      return item
    })
    if (items.length === 0 && query) {
      const item = document.createElement('li')
      item.innerHTML = '<p>Nothing found.</p>'
      items.push(item)
    }
    list.replaceChildren(...items)
  }
  input.addEventListener('focus', prepare)
  input.addEventListener('input', show)
  search.addEventListener('keydown', event => {
    const links = [...list.querySelectorAll('a')], at = links.indexOf(document.activeElement)
    if (event.key === 'Escape') { close(); input.blur() }
    else if (event.key === 'ArrowDown' && links.length) { links[Math.min(at + 1, links.length - 1)].focus(); event.preventDefault() }
    else if (event.key === 'ArrowUp' && at >= 0) { (links[at - 1] || input).focus(); event.preventDefault() }
    else if (event.key === 'Enter' && at < 0 && links.length) links[0].click()
  })
  document.addEventListener('click', event => { if (!search.contains(event.target)) close() })
  document.addEventListener('keydown', event => {
    if (event.key === '/' && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { input.focus(); event.preventDefault() }
  })
}
