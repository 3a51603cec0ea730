// The theme, the menus, colours of code, a button that copies an example without prompts and answers, and the search.
// Every page can be read without this script.

const top_ = document.body.dataset.top

// --- Theme ---

// The head of each page sets the theme that was chosen before, so that nothing flashes.
const themes = ['auto', 'light', 'dark'], theme = document.querySelector('.theme')
const stored = () => { try { return localStorage.theme } catch { return undefined } }
const chosen = () => themes.includes(stored()) ? stored() : 'auto'
function showTheme(name) {
  document.documentElement.dataset.theme = name
  theme.textContent = { auto: '\u25d0', light: '\u2600', dark: '\u263e' }[name]
  theme.title = `Theme: ${name}`
  theme.setAttribute('aria-label', theme.title)
}
theme.hidden = false
showTheme(chosen())
theme.addEventListener('click', () => {
  const next = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length]
  try { localStorage.theme = next } catch { /* It lasts until the page is left. */ }
  showTheme(next)
})

// --- Menus ---

// On a phone the list of pages is below the page, and the button shows it above.
const menu = document.querySelector('.menu'), side = document.getElementById('side')
function showCurrent() {
  const current = side.querySelector('[aria-current]')
  if (current) side.scrollTop = Math.max(0, current.offsetTop - side.clientHeight / 2)
}
if (menu && side) {
  const showMenu = open => {
    document.body.style.setProperty('--header', document.querySelector('body > header').offsetHeight + 'px')
    document.body.classList.toggle('open', open)
    menu.setAttribute('aria-expanded', open)
    if (open) { scrollTo(0, 0); showCurrent() }
  }
  menu.setAttribute('role', 'button')
  showMenu(false)
  menu.addEventListener('click', event => { event.preventDefault(); showMenu(!document.body.classList.contains('open')) })
  document.addEventListener('keydown', event => { if (event.key === 'Escape') showMenu(false) })
}
if (side && matchMedia('(min-width: 50.01rem)').matches) showCurrent()

// Beside a wide page its sections are always shown.
const contents = document.querySelector('.contents details')
if (contents) {
  const wide = matchMedia('(min-width: 75.01rem)')
  const arrange = () => { contents.open = wide.matches }
  wide.addEventListener('change', arrange)
  arrange()
}

// --- Code ---

for (const code of document.querySelectorAll('pre.language-ocaml code, pre.language-dune code, pre.session .input')) {
  if (!window.hljs) break
  const language = code.closest('pre').classList.contains('language-dune') ? 'lisp' : 'ocaml'
  if (hljs.getLanguage(language)) code.innerHTML = hljs.highlight(language, code.textContent, true).value
}

function textOf(pre) {
  const inputs = pre.querySelectorAll('.input')
  if (inputs.length === 0) return pre.querySelector('code').textContent
  const phrases = []
  for (const input of inputs) {
    if (input.previousSibling.textContent.startsWith('#')) phrases.push(input.textContent)
    else phrases.push(phrases.pop() + '\n' + input.textContent)
  }
  return phrases.map(phrase => phrase.trimEnd().endsWith(';;') ? phrase : phrase + ';;').join('\n') + '\n'
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

// searched, of search.js, has the entries, and for each word those that have it: first those in whose title it stands.
const asked = query => (query.toLowerCase().match(/[\p{L}\p{N}_'.]+/gu) || []).map(word => word.replace(/^\.+|\.+$/g, '')).filter(word => word)

// Is b a with one letter more, less, changed, or exchanged with the next one?
function isTypo(a, b) {
  if (Math.abs(a.length - b.length) > 1) return false
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  const rest = (x, m, y, n) => x.slice(m) === y.slice(n)
  return rest(a, i + 1, b, i + 1) || rest(a, i + 1, b, i) || rest(a, i, b, i + 1)
    || (a[i] === b[i + 1] && a[i + 1] === b[i] && rest(a, i + 2, b, i + 2))
}

let vocabulary
// The words of the index that a word stands for, each with how well it fits.
function meant(word) {
  const found = new Map()
  if (Object.hasOwn(searched.words, word)) found.set(word, 10)
  const singular = word.replace(/s$/, '')
  if (singular !== word && Object.hasOwn(searched.words, singular)) found.set(singular, 8)
  // A name with a dot is for those who type one.
  const others = vocabulary.filter(other => word.includes('.') || !other.includes('.'))
  for (const other of others) if (other.startsWith(word) && other !== word) found.set(other, 4 * word.length / other.length)
  if (found.size === 0 && word.length > 3) for (const other of others) if (isTypo(word, other)) found.set(other, 3)
  return found
}

// They say nothing about what is asked for.
const idle = new Set('a an and can do does for from how i in is it my of on one the to what when why with'.split(' '))

function find(query) {
  // If there is no Semaphore.acquire, what has both words is found.
  const all = asked(query).flatMap(word => word.includes('.') && meant(word).size === 0 ? word.split('.').filter(part => part) : [word])
  const telling = all.filter(word => !idle.has(word)), words = telling.length ? telling : all
  if (words.length === 0) return []
  const scores = new Map(), has = new Map()
  words.forEach((word, i) => {
    const best = new Map()
    for (const [other, fit] of meant(word)) {
      const [titles, texts] = searched.words[other]
      // A rare word says more than a common one.
      const rare = Math.log(2 + searched.entries.length / (titles.length + texts.length))
      for (const n of titles) {
        // A whole title, or the end of a name, is what the reader types.
        const title = searched.entries[n][0].toLowerCase()
        const whole = title === other ? 6 : title.endsWith('.' + other) ? 5 : 1
        best.set(n, Math.max(best.get(n) || 0, 3 * fit * whole * rare))
      }
      for (const n of texts) best.set(n, Math.max(best.get(n) || 0, fit * rare))
    }
    for (const [n, score] of best) {
      scores.set(n, (scores.get(n) || 0) + score)
      has.set(n, (has.get(n) || 0) + 1)
    }
  })
  // An entry that has more of the words comes first, however well another has one of them.
  const found = [...scores]
    .map(([n, score]) => ({ n, score: score * searched.entries[n][4], has: has.get(n) }))
    .sort((a, b) => b.has - a.has || b.score - a.score || a.n - b.n)
    .map(({ n }) => searched.entries[n])
  const key = query.trim().toLowerCase()
  const url = Object.hasOwn(searched.synonyms, key) && searched.synonyms[key]
  if (url) {
    const at = searched.entries.find(entry => entry[1] === url) || searched.entries.find(entry => entry[1] === url.split('#')[0])
    if (at) found.unshift([at[0], url, ...at.slice(2)])
  }
  const seen = new Set()
  return found.filter(entry => !seen.has(entry[1]) && seen.add(entry[1])).slice(0, 12)
}

const search = document.querySelector('.search')
{
  const input = search.querySelector('input'), list = search.querySelector('ol')
  search.hidden = false
  let ready
  // The index has the distances between the entries of a word.
  const open = () => {
    for (const lists of Object.values(searched.words))
      for (const list of lists) for (let i = 1; i < list.length; i++) list[i] += list[i - 1]
    vocabulary = Object.keys(searched.words)
  }
  const prepare = () => ready = ready || load('search.js').then(open)
  const close = () => list.replaceChildren()
  const show = async () => {
    await prepare()
    const query = input.value.trim()
    const items = find(query).map(([title, url, kind, text]) => {
      const item = document.createElement('li'), link = document.createElement('a'), small = document.createElement('small')
      link.href = top_ + url
      link.textContent = title
      small.textContent = kind + (text ? ': ' + text : '')
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
    list.dataset.query = query
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
