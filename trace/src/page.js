"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const scroll = document.getElementById("scroll"), spacer = document.getElementById("spacer");
const canvas = document.getElementById("canvas"), told = document.getElementById("told");
const pen = canvas.getContext("2d");
const head = 22, single = 20, most = 60, border = 3;
const end = Math.max(data.end, data.from + 1);
const view = { from: data.from, until: end };
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const seconds = (us) => us >= 1e6 ? (us / 1e6).toFixed(3) + " s" : us >= 1e3 ? (us / 1e3).toFixed(3) + " ms" : us.toFixed(1) + " \u00b5s";

// --- Rows and lines. A line shows one row, or all rows of a fold. ---

const titles = data.rows.map((name, row) => data.foldOf[row] < 0 ? name : data.folds[data.foldOf[row]]);
const rowsOf = data.folds.map(() => []);
data.foldOf.forEach((fold, row) => { if (fold >= 0) rowsOf[fold].push(row); });
const folded = rowsOf.map((rows) => rows.length > 3);
const lineOf = [];
let lines = [], whole = 0;
const layOut = () => {
  lines = []; whole = head;
  const add = (rows, text, fold) => {
    const height = rows.length === 1 ? single : Math.min(most, Math.max(single, 2 * border + 3 * rows.length));
    rows.forEach((row) => { lineOf[row] = lines.length; });
    lines.push({ rows, text, fold, top: whole, height });
    whole += height;
  };
  data.rows.forEach((name, row) => {
    const fold = data.foldOf[row], rows = fold < 0 ? [row] : rowsOf[fold];
    if (rows.length === 1) add(rows, name, -1);
    else if (!folded[fold]) add([row], (row === rows[0] ? "\u25be " : "  ") + name, fold);
    else if (row === rows[0]) add(rows, "\u25b8 " + titles[row], fold);
  });
  whole += 6;
};
const lineAt = (py) => lines.findIndex(({ top, height }) => top - scroll.scrollTop <= py && py < top + height - scroll.scrollTop);

// Where a row is drawn in the canvas. The rows of a line share its height.
const place = (row) => {
  const { rows, top, height } = lines[lineOf[row]], room = height - 2 * border;
  const i = row - rows[0], part = room / rows.length;
  return { top: top - scroll.scrollTop + border + i * part, height: Math.max(1, rows.length > 1 && part >= 3 ? part - 1 : part) };
};
const y = (row) => place(row).top - border;
const rowAt = (py) => {
  const line = lines[lineAt(py)];
  if (!line) return -1;
  const part = (line.height - 2 * border) / line.rows.length;
  const i = Math.floor((py + scroll.scrollTop - line.top - border) / part);
  return line.rows[Math.max(0, Math.min(line.rows.length - 1, i))];
};

const longest = data.rows.reduce((most, row, i) => Math.max(most, row.length, titles[i].length + 2), 0);
const left = () => Math.min(longest * 7 + 12, canvas.clientWidth * 0.35);
const x = (time) => left() + (time - view.from) / (view.until - view.from) * (canvas.clientWidth - left());
const time = (px) => view.from + (px - left()) / (canvas.clientWidth - left()) * (view.until - view.from);

// --- The bars of each row, in the order of time. They don't overlap, so `first` can search them. ---

const byRow = (list) => {
  const all = data.rows.map(() => []);
  for (const one of list) all[one[0]].push(one);
  for (const row of all) row.sort((a, b) => a[1] - b[1]);
  return all;
};
const waits = byRow(data.waits), runs = byRow(data.runs), pauses = byRow(data.pauses), losses = byRow(data.losses), marks = byRow(data.marks);

// The index of the first bar that ends at this time or later.
const first = (list, time, until = 2) => {
  let a = 0, b = list.length;
  while (a < b) { const middle = (a + b) >> 1; if (list[middle][until] < time) a = middle + 1; else b = middle; }
  return a;
};

// If several bars are in one pixel, only the first is drawn, because a long trace has many of them.
const bars = (row, list, colour, top, height) => {
  const pixel = (view.until - view.from) / Math.max(1, canvas.clientWidth - left());
  for (let i = first(list, view.from); i < list.length && list[i][1] <= view.until;) {
    const a = Math.max(x(list[i][1]), left()), b = Math.min(x(list[i][2]), canvas.clientWidth);
    pen.fillStyle = typeof colour === "string" ? colour : colour(list[i]);
    pen.fillRect(a, top, Math.max(b - a, 1), height);
    i = Math.max(i + 1, b - a < 1 ? first(list, list[i][1] + pixel) : 0);
  }
};

const scale = () => {
  const width = (view.until - view.from) / Math.max(1, (canvas.clientWidth - left()) / 120);
  const power = Math.pow(10, Math.floor(Math.log10(width)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= width);
  const digits = Math.max(0, Math.min(9, Math.ceil(6 - Math.log10(step) - 1e-9)));
  pen.fillStyle = css("--text");
  pen.strokeStyle = css("--line");
  pen.lineWidth = 1;
  for (let time = Math.ceil(view.from / step) * step; time <= view.until; time += step) {
    pen.beginPath(); pen.moveTo(x(time), head - 4); pen.lineTo(x(time), canvas.clientHeight); pen.stroke();
    pen.fillText((time / 1e6).toFixed(digits) + " s", x(time) + 2, 12);
  }
};

// A time of which only some waits are left. Zones don't overlap.
const zoneAt = (time) => {
  const zone = data.zones[first(data.zones, time, 1)];
  return zone && zone[0] <= time ? zone : undefined;
};
const zones = (height) => {
  pen.fillStyle = css("--sampled");
  for (let i = first(data.zones, view.from, 1); i < data.zones.length && data.zones[i][0] <= view.until; i++) {
    const a = Math.max(x(data.zones[i][0]), left()), b = Math.min(x(data.zones[i][1]), canvas.clientWidth);
    pen.fillRect(a, head, Math.max(b - a, 1), height);
  }
};

const arrow = ([a, from, b, until, across]) => {
  const middle = (row) => place(row).top + place(row).height / 2;
  pen.strokeStyle = pen.fillStyle = css(across ? "--across" : "--arrow");
  pen.lineWidth = 2;
  const x1 = x(from), y1 = middle(a), x2 = x(until), y2 = middle(b);
  pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x2, y2); pen.stroke();
  const angle = Math.atan2(y2 - y1, x2 - x1);
  pen.beginPath(); pen.moveTo(x2, y2);
  for (const turn of [2.7, -2.7]) pen.lineTo(x2 + 6 * Math.cos(angle + turn), y2 + 6 * Math.sin(angle + turn));
  pen.fill();
};

// More arrows than this can't be told apart, so only some are drawn. The arrow of the wait under the pointer is always drawn.
const limit = 300;
let chosen = -1;
const arrows = (isShown) => {
  const shown = data.wakes.filter(([a, from, b, until]) => until >= view.from && from <= view.until && (isShown(a) || isShown(b)));
  const every = Math.ceil(shown.length / limit);
  shown.forEach((wake, i) => { if (i % every === 0) arrow(wake); });
  return { number: shown.length, every };
};

const draw = () => {
  const ratio = window.devicePixelRatio || 1;
  const height = Math.min(whole, Math.floor(window.innerHeight * 0.75));
  scroll.style.height = height + "px";
  canvas.style.height = height + "px";
  spacer.style.height = Math.max(0, whole - height) + "px";
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = height * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = "12px ui-monospace, monospace";
  pen.clearRect(0, 0, canvas.clientWidth, height);
  const shown = lines.filter(({ top, height: own }) => top + own - scroll.scrollTop > head && top - scroll.scrollTop < height);
  const isShown = (row) => shown.includes(lines[lineOf[row]]);
  pen.save();
  pen.beginPath(); pen.rect(0, head, canvas.clientWidth, height); pen.clip();
  pen.save();
  pen.beginPath(); pen.rect(left(), 0, canvas.clientWidth, height); pen.clip();
  zones(height);
  const drawn = arrows(isShown);
  const wait = css("--wait"), unsure = css("--unsure"), run = css("--run");
  for (const { rows } of shown) for (const row of rows) {
    const { top, height: room } = place(row);
    bars(row, losses[row], css("--lost"), top - border, room + 2 * border);
    bars(row, waits[row], (w) => w[9] ? wait : unsure, top, room);
    bars(row, runs[row], run, top, room);
    bars(row, pauses[row], css("--pause"), top - border, 3);
    pen.fillStyle = css("--mark");
    for (let i = first(marks[row], view.from, 1); i < marks[row].length && marks[row][i][1] <= view.until; i++)
      pen.fillRect(x(marks[row][i][1]) - 1, top - border, 2, room + 2 * border);
  }
  if (chosen >= 0 && data.wakes[chosen]) arrow(data.wakes[chosen]);
  pen.restore();
  pen.fillStyle = css("--text");
  const chars = Math.floor((left() - 8) / 7);
  for (const { text, top, height: own } of shown) {
    const half = (chars - 1) / 2;
    const short = text.length > chars ? text.slice(0, Math.ceil(half)) + "\u2026" + text.slice(-Math.floor(half)) : text;
    pen.fillText(short, 4, top - scroll.scrollTop + own / 2 + 4);
  }
  pen.restore();
  scale();
  document.getElementById("summary").textContent = summary + (drawn.every > 1
    ? ` Only one in ${drawn.every} of the ${drawn.number} wake-ups here is drawn. Zoom in, or point at a wait to see its own.` : "");
};

// --- Moving ---

const zoom = (factor, at) => {
  const middle = at ?? (view.from + view.until) / 2;
  const from = middle - (middle - view.from) * factor, until = middle + (view.until - middle) * factor;
  if (until - from < 0.01) return;
  view.from = Math.max(0, from); view.until = Math.min(end, until);
  draw();
};
const move = (by) => {
  by = Math.max(-view.from, Math.min(by, end - view.until));
  view.from += by; view.until += by;
  draw();
};
const unfold = (fold) => { folded[fold] = !folded[fold]; layOut(); draw(); };

// `at` finds the bars at a point of the canvas, and `what` describes them in words.
const at = (px, py) => {
  const row = rowAt(py), moment = time(px);
  const near = (view.until - view.from) / canvas.clientWidth;
  const here = (list, until = 2) => {
    const one = row < 0 ? undefined : list[row][first(list[row], moment - near, until)];
    return one && one[1] - near <= moment ? one : undefined;
  };
  return { row, moment, here };
};
const what = (px, py) => {
  const { row, moment, here } = at(px, py);
  const line = lines[lineAt(py)];
  if (py < head || row < 0) return "";
  if (px < left()) return line.text;
  const text = (n) => data.texts[n];
  const lasts = (one) => `for ${seconds(one[2] - one[1])} from ${seconds(one[1])} on`;
  const mark = here(marks, 1), run = here(runs), wait = here(waits), pause = here(pauses), loss = here(losses);
  const also = (pause ? `; ${text(pause[3])}, ${lasts(pause)}` : "") + (mark ? `; mark: ${text(mark[2])}` : "");
  if (loss) return `${data.rows[row]}: ${Math.ceil(loss[3] / 1000)} kB of events were lost, ${lasts(loss)}`;
  if (run) return `${data.rows[row]}: ${text(run[3])}, ${lasts(run)}${also}`;
  const zone = zoneAt(moment);
  if (!wait) return data.rows[row] + also + (zone
    ? `; sampled: ${zone[2]} events aren't here, from ${seconds(zone[0])} on for ${seconds(zone[1] - zone[0])}` : "");
  const [, , , operation, where, outcome, by, structure, task, , , times] = wait;
  return `${text(task)}: waits ${text(operation) ? "in " + text(operation) + " " : ""}` +
    `${text(structure) ? "of " + text(structure) + " " : ""}${text(where) ? "at " + text(where) + " " : ""}` +
    `${lasts(wait)}: ${text(outcome)}${text(by) ? ", woken by " + text(by) : ""}` +
    `${times > 1 ? `, the longest of ${times} of its kind here` : ""}${also}`;
};

canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  zoom(Math.exp(event.deltaY * 0.002), time(event.offsetX));
}, { passive: false });
let held = null;
canvas.addEventListener("pointerdown", (event) => {
  const line = lines[lineAt(event.offsetY)];
  if (event.offsetX < left()) { if (line && line.fold >= 0 && event.offsetY >= head) unfold(line.fold); return; }
  held = event.offsetX; canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointerup", () => { held = null; });
canvas.addEventListener("pointermove", (event) => {
  if (held !== null) { move(time(held) - time(event.offsetX)); held = event.offsetX; }
  told.textContent = what(event.offsetX, event.offsetY);
  const wait = event.offsetX < left() ? undefined : at(event.offsetX, event.offsetY).here(waits);
  const wake = wait ? wait[10] : -1;
  if (wake !== chosen) { chosen = wake; draw(); }
});
canvas.addEventListener("keydown", (event) => {
  const width = view.until - view.from;
  const action = { "+": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => move(-width / 10), ArrowRight: () => move(width / 10) }[event.key];
  if (action) { event.preventDefault(); action(); }
});
scroll.addEventListener("scroll", () => requestAnimationFrame(draw));
window.addEventListener("resize", draw);
const across = data.wakes.filter((wake) => wake[4]).length;
const sampled = data.zones.reduce((sum, [from, until]) => sum + Math.max(0, until - Math.max(from, data.from)), 0);
const unsure = data.waits.filter((wait) => !wait[9]).length;
const summary =
  `${data.rows.length} rows, ${data.waits.length} waits, ${data.wakes.length} wake-ups, of which ${across} across domains, ` +
  `in ${seconds(end - data.from)}.` + (data.zones.length
    ? ` ${Math.round(sampled / Math.max(1, end - data.from) * 100)} % of the time is sampled. The tables below count all waits.` : "") + (data.lost ? ` ${Math.ceil(data.lost / 1000)} kB of events were lost, so the drawing has gaps` +
  `${unsure ? `, and ${unsure} waits may have ended earlier` : ""}.` : "");
layOut();
draw();
