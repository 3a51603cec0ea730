"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("canvas"), told = document.getElementById("told");
const pen = canvas.getContext("2d");
const height = 20, head = 22;
const longest = Math.max(0, ...data.rows.map((row) => row.length));
const view = { from: 0, until: Math.max(data.end, 1) };
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const left = () => Math.min(longest * 7 + 12, canvas.clientWidth * 0.35);
const x = (time) => left() + (time - view.from) / (view.until - view.from) * (canvas.clientWidth - left());
const y = (row) => head + row * height;
const seconds = (us) => us >= 1e6 ? (us / 1e6).toFixed(3) + " s" : us >= 1e3 ? (us / 1e3).toFixed(3) + " ms" : us.toFixed(1) + " \u00b5s";

const bars = (list, colour) => {
  pen.fillStyle = colour;
  // What would be drawn over the last bar of its row, in the same pixel, is left out.
  const last = new Map();
  for (const [row, from, until] of list) {
    if (until < view.from || from > view.until) continue;
    const a = Math.max(x(from), left()), b = Math.min(x(until), canvas.clientWidth);
    if (b < (last.get(row) ?? -1)) continue;
    last.set(row, Math.floor(a) + 1);
    pen.fillRect(a, y(row) + 3, Math.max(b - a, 1), height - 6);
  }
};

const scale = () => {
  const width = (view.until - view.from) / Math.max(1, (canvas.clientWidth - left()) / 120);
  const power = Math.pow(10, Math.floor(Math.log10(width)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= width);
  pen.fillStyle = css("--text");
  pen.strokeStyle = css("--line");
  for (let time = Math.ceil(view.from / step) * step; time <= view.until; time += step) {
    pen.beginPath(); pen.moveTo(x(time), head - 4); pen.lineTo(x(time), canvas.clientHeight); pen.stroke();
    pen.fillText(seconds(time), x(time) + 2, 12);
  }
};

const limit = 5000;
const arrows = () => {
  const seen = data.wakes.filter(([, from, , until]) => until >= view.from && from <= view.until);
  const every = Math.ceil(seen.length / limit);
  seen.forEach(([a, from, b, until, across], i) => {
    if (i % every !== 0) return;
    pen.strokeStyle = pen.fillStyle = css(across ? "--across" : "--arrow");
    const x1 = x(from), y1 = y(a) + height / 2, x2 = x(until), y2 = y(b) + height / 2;
    pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x2, y2); pen.stroke();
    const angle = Math.atan2(y2 - y1, x2 - x1);
    pen.beginPath(); pen.moveTo(x2, y2);
    for (const turn of [2.7, -2.7]) pen.lineTo(x2 + 6 * Math.cos(angle + turn), y2 + 6 * Math.sin(angle + turn));
    pen.fill();
  });
};

const draw = () => {
  const ratio = window.devicePixelRatio || 1, whole = head + data.rows.length * height + 6;
  canvas.style.height = whole + "px";
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = Math.min(whole * ratio, 32000);
  pen.setTransform(ratio, 0, 0, canvas.height / whole, 0, 0);
  pen.font = "12px ui-monospace, monospace";
  pen.clearRect(0, 0, canvas.clientWidth, whole);
  scale();
  bars(data.waits, css("--wait"));
  bars(data.runs, css("--run"));
  pen.save();
  pen.beginPath(); pen.rect(left(), 0, canvas.clientWidth, whole); pen.clip();
  arrows();
  pen.restore();
  pen.fillStyle = css("--text");
  data.rows.forEach((row, i) => {
    const chars = Math.floor((left() - 8) / 7);
    pen.fillText(row.length > chars ? row.slice(0, chars - 1) + "\u2026" : row, 4, y(i) + 14);
  });
};

const zoom = (factor, at) => {
  const middle = at ?? (view.from + view.until) / 2;
  const from = middle - (middle - view.from) * factor, until = middle + (view.until - middle) * factor;
  if (until - from < 0.01) return;
  view.from = Math.max(0, from); view.until = Math.min(Math.max(data.end, 1), until);
  draw();
};
const move = (by) => {
  by = Math.max(-view.from, Math.min(by, Math.max(data.end, 1) - view.until));
  view.from += by; view.until += by;
  draw();
};
const time = (px) => view.from + (px - left()) / (canvas.clientWidth - left()) * (view.until - view.from);

// What is at this place of the picture, in words.
const what = (px, py) => {
  const row = Math.floor((py - head) / height), at = time(px);
  if (px < left() || row < 0 || row >= data.rows.length) return "";
  const near = (view.until - view.from) / canvas.clientWidth;
  const here = ([r, from, until]) => r === row && from - near <= at && at <= until + near;
  const run = data.runs.find(here), wait = data.waits.find(here);
  if (run) return `${data.rows[row]}: ${run[3]}, for ${seconds(run[2] - run[1])} from ${seconds(run[1])} on`;
  if (!wait) return data.rows[row];
  const [, from, until, operation, line, outcome, by] = wait;
  return `${data.rows[row]}: waits ${operation ? "in " + operation + " " : ""}${line ? "at " + line + " " : ""}for ` +
    `${seconds(until - from)} from ${seconds(from)} on: ${outcome}${by ? ", woken by " + by : ""}`;
};

canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  zoom(Math.exp(event.deltaY * 0.002), time(event.offsetX));
}, { passive: false });
let held = null;
canvas.addEventListener("pointerdown", (event) => { held = event.offsetX; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointerup", () => { held = null; });
canvas.addEventListener("pointermove", (event) => {
  if (held !== null) { move(time(held) - time(event.offsetX)); held = event.offsetX; }
  told.textContent = what(event.offsetX, event.offsetY);
});
canvas.addEventListener("keydown", (event) => {
  const width = view.until - view.from;
  const action = { "+": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => move(-width / 10), ArrowRight: () => move(width / 10) }[event.key];
  if (action) { event.preventDefault(); action(); }
});
window.addEventListener("resize", draw);
const across = data.wakes.filter((wake) => wake[4]).length;
document.getElementById("summary").textContent =
  `${data.rows.length} rows, ${data.waits.length} waits, ${data.wakes.length} wake-ups, of which ${across} across domains, ` +
  `in ${seconds(data.end)}.` + (data.lost ? ` ${Math.ceil(data.lost / 1000)} kB of events were lost: what is drawn has gaps.` : "");
draw();
