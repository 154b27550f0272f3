"use strict";
// The page without this script holds every verdict, reason and figure. This adds: filters, links
// that open what they name, figures that answer the mouse, a slider through training.
const root = document.documentElement;
root.classList.add("js");
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const short = (x) => x === null || x === undefined ? "–"
  : typeof x !== "number" ? String(x)
  : x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5) ? (+x.toPrecision(3)).toExponential().replace("e+", "e") : String(+x.toPrecision(4));

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

// --- light and dark -------------------------------------------------------------------------
const media = matchMedia("(prefers-color-scheme: dark)");
const dark = () => root.classList.contains("dark") || (media.matches && !root.classList.contains("light"));
document.getElementById("theme").addEventListener("click", () => {
  const now = dark();
  root.classList.toggle("dark", !now);
  root.classList.toggle("light", now);
  redraw();
});
media.addEventListener("change", () => redraw());

// --- filters --------------------------------------------------------------------------------
const claims = all("details.claim");
const chosen = Object.fromEntries(["paper", "kind", "outcome", "text"].map((name) => [name, document.getElementById(`by-${name}`)]));
for (const name of ["kind", "outcome"]) {
  const values = [...new Set(claims.map((c) => c.dataset[name]))];
  chosen[name].append(...values.map((v) => element("option", { value: v, textContent: v.replaceAll("_", " ") })));
}
const letters = { α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon eps", ζ: "zeta", η: "eta", θ: "theta", κ: "kappa", λ: "lambda", μ: "mu", ν: "nu", ξ: "xi", π: "pi", ρ: "rho", σ: "sigma", τ: "tau", φ: "phi", ω: "omega" };
const typed = (text) => `${text} ${[...new Set(text)].map((c) => letters[c] ?? "").join(" ")}`;
const texts = new Map(claims.map((c) => [c, typed(c.textContent.toLowerCase())]));
function filter() {
  const words = chosen.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const claim of claims) {
    const kept = ["paper", "kind", "outcome"].every((n) => !chosen[n].value || claim.dataset[n] === chosen[n].value)
      && words.every((word) => texts.get(claim).includes(word));
    claim.hidden = !kept;
    count += kept;
  }
  for (const section of all("section.paper")) section.hidden = Boolean(chosen.paper.value) && section.dataset.paper !== chosen.paper.value;
  document.getElementById("found").textContent = `${count} of ${claims.length} verdicts`;
}
for (const control of Object.values(chosen)) control.addEventListener("input", filter);
filter();
for (const chip of all("[data-filter-outcome]")) {
  chip.addEventListener("click", () => {
    chosen.paper.value = chip.dataset.filterPaper;
    chosen.outcome.value = chip.dataset.filterOutcome;
    filter();
  });
}

// --- links open what they name --------------------------------------------------------------
function open() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const box = target.closest("details");
  if (box) {
    box.hidden = false;
    box.open = true;
  }
  const section = target.closest("section.paper");
  if (section && section.hidden) {
    for (const control of Object.values(chosen)) control.value = "";
    filter();
  }
  (box ?? target).scrollIntoView();
  if (box) box.querySelector("summary").focus({ preventScroll: true });
}
addEventListener("hashchange", open);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link && link.getAttribute("href") === location.hash) open();
});

for (const button of all("button.copy")) {
  button.addEventListener("click", async () => {
    const text = button.closest(".command").querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = element("textarea", { value: text });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
}

// --- figures --------------------------------------------------------------------------------
let data = null;
const live = new Map(); // boxes that are drawn, and how to draw them again
const redraw = () => { for (const draw of live.values()) draw(); };
const paint = (colour) => colour === "ink" ? "currentColor" : colour === "paper" ? "var(--paper)" : colour;
const seen = (colour) => { // a dark curve on a dark page is lifted
  if (!dark() || !colour.startsWith("#")) return paint(colour);
  const c = d3.lab(colour);
  return c.l < 55 ? d3.lab(Math.max(55, 100 - c.l * 0.8), c.a, c.b).formatHex() : colour;
};

function draw(box) {
  if (!data || live.has(box)) return;
  const panels = data.figures[box.dataset.figure];
  if (!panels) return;
  const off = new Set();
  const scales = panels.map(() => ({}));
  const render = () => {
    const labels = new Map();
    for (const panel of panels) for (const s of [...panel.series, ...panel.rules]) if (s.label && !labels.has(s.label)) labels.set(s.label, s);
    const keys = element("div", { className: "keys" });
    for (const [label, s] of labels) {
      const swatch = element("span", { className: "swatch" });
      if (s.line && s.line !== "none") swatch.style.borderTop = `3px dashed ${seen(s.colour)}`;
      else if (s.line) swatch.style.borderTop = `3px solid ${seen(s.colour)}`;
      else Object.assign(swatch.style, { background: seen(s.colour), width: ".7em", borderRadius: "50%" });
      const button = element("button", { type: "button" }, swatch, label);
      button.setAttribute("aria-pressed", String(!off.has(label)));
      button.addEventListener("click", () => { if (!off.delete(label)) off.add(label); render(); });
      keys.append(button);
    }
    box.replaceChildren(keys, element("div", { className: "panels" }, ...panels.map((panel, i) => drawPanel(panel, off, scales[i], render))));
  };
  live.set(box, render);
  render();
}

function axisOf(axis, type, values) {
  const scale = { label: axis.label || null, grid: true, nice: false };
  const [a, b] = axis.domain;
  if (type === "log") {
    const positive = values.filter((v) => v > 0);
    const low = Math.min(a, b) > 0 ? Math.min(a, b) : d3.min(positive);
    Object.assign(scale, { type: "log", domain: a <= b ? [low, Math.max(a, b)] : [Math.max(a, b), low] });
    const decades = Math.log10(Math.max(a, b) / low);
    Object.assign(scale, decades > 3 ? { ticks: 5, tickFormat: (x) => short(x) } : { tickFormat: (x) => /^[125]/.test(x.toExponential()) ? short(x) : "" });
  } else if (axis.scale === "symlog") Object.assign(scale, { type: "symlog", domain: [a, b], ticks: [0, ...d3.range(0, Math.ceil(Math.log10(Math.max(a, b, 10))) + 1).map((k) => 10 ** k)].filter((t) => t <= Math.max(a, b)), tickFormat: short });
  else Object.assign(scale, { type: "linear", domain: [a, b] });
  if (axis.ticks) Object.assign(scale, { ticks: axis.ticks.map((t) => t[0]), tickFormat: (x) => (axis.ticks.find((t) => t[0] === x) ?? ["", ""])[1] });
  return scale;
}

function named(plot) { // one picture for those who listen; its parts keep their names for us
  plot.setAttribute("role", "img");
  for (const part of all("g[aria-label]", plot)) {
    part.dataset.mark = part.getAttribute("aria-label");
    part.removeAttribute("aria-label");
    part.removeAttribute("aria-description");
  }
}

function told(s, i) { // what is said of a point beside its place
  const lines = [];
  if (s.low && s.high && s.low[i] !== undefined) lines.push(`[${short(s.low[i])}, ${short(s.high[i])}]`);
  for (const key of Object.keys(s)) {
    if (["label", "colour", "x", "y", "line", "mark", "bars", "low", "high", "boxes", "values", "colours"].includes(key)) continue;
    lines.push(`${key}: ${short(s[key][i])}`);
  }
  return lines.join("\n");
}

function drawPanel(panel, off, scale, render) {
  const kept = panel.series.filter((s) => !off.has(s.label));
  const points = kept.flatMap((s) => s.x.map((x, i) => ({ x, y: s.y[i], i, s }))).filter((p) => p.x !== null && p.y !== null);
  const types = { x: scale.x ?? panel.x.scale, y: scale.y ?? panel.y.scale };
  const valid = (p) => (types.x !== "log" || p.x > 0) && (types.y !== "log" || p.y > 0);
  const marks = [];
  const [y0, y1] = panel.y.domain;
  const beyond = (p) => (p.y > Math.max(y0, y1) ? 1 : p.y < Math.min(y0, y1) ? -1 : 0);
  for (const t of panel.tiles) {
    const boxes = t.boxes.map((b, i) => ({ x1: b[0], y1: b[1], x2: b[2], y2: b[3], i }));
    marks.push(Plot.rect(boxes, { x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: (d) => t.colours[d.i], stroke: "#888", strokeWidth: 0.3,
      title: (d) => [`value ${short(t.values[d.i])}`, told(t, d.i)].filter(Boolean).join("\n"), tip: true }));
  }
  for (const a of panel.areas) for (const path of a.paths) {
    marks.push(Plot.line(path.map(([x, y]) => ({ x, y })).filter(valid), { x: "x", y: "y", fill: seen(a.colour), fillOpacity: a.opacity, stroke: "none", curve: "linear-closed", clip: true }));
  }
  for (const r of panel.rules) if (!off.has(r.label)) {
    const options = { stroke: seen(r.colour), strokeDasharray: r.line, strokeWidth: 1.2 };
    if (types[r.axis] !== "log" || r.at > 0) marks.push(r.axis === "y" ? Plot.ruleY([r.at], options) : Plot.ruleX([r.at], options));
  }
  for (const s of kept) {
    const own = points.filter((p) => p.s === s && valid(p));
    const colour = seen(s.colour);
    if (s.line) marks.push(Plot.line(own, { x: "x", y: "y", stroke: colour, strokeWidth: 1.6, strokeDasharray: s.line === "none" ? null : s.line, clip: true }));
    if (s.bars) marks.push(Plot.ruleX(own.filter((p) => types.y !== "log" || s.low[p.i] > 0), { x: "x", y1: (p) => s.low[p.i], y2: (p) => s.high[p.i], stroke: colour, clip: true }));
    if (s.mark) {
      const [name, hollow] = s.mark.split(" ");
      const shade = (p) => s.colours[p.i]; // a map's dots: each has the shade of its value
      marks.push(Plot.dot(own, { x: "x", y: "y", symbol: name, r: s.colours ? 4.5 : 3.5, stroke: s.colours ? "#888" : colour, fill: s.colours ? shade : hollow ? "var(--paper)" : colour, clip: true }));
    }
    const out = own.filter(beyond); // what lies outside the axes is marked at their end
    if (out.length && s.mark) marks.push(Plot.dot(out, { x: "x", y: (p) => beyond(p) > 0 ? Math.max(y0, y1) : Math.min(y0, y1), symbol: "triangle", rotate: (p) => beyond(p) > 0 ? 0 : 180, r: 5, stroke: colour, fill: "var(--paper)" }));
  }
  for (const t of panel.texts) marks.push(Plot.text([t], { x: "x", y: "y", text: "text", textAnchor: "start", fill: "currentColor", fontSize: 10, clip: true }));
  const hover = points.filter(valid);
  if (hover.length) marks.push(Plot.tip(hover, Plot.pointer({ x: "x", y: "y", fill: "var(--paper)", stroke: "var(--soft)", title: (p) =>
    [p.s.label, `${panel.x.label || "x"} ${short(p.x)}`, `${panel.y.label || "y"} ${short(p.y)}`, told(p.s, p.i)].filter(Boolean).join("\n") })));
  const x = axisOf(panel.x, types.x, points.map((p) => p.x)), y = axisOf(panel.y, types.y, points.map((p) => p.y));
  const plot = Plot.plot({ width: 520, height: 340, marginLeft: 56, marginBottom: 40, marginRight: 16, x, y, marks, style: { background: "none", color: "var(--ink)", overflow: "visible" } });
  named(plot);
  plot.setAttribute("aria-label", [panel.title, `${panel.y.label} against ${panel.x.label}`].filter(Boolean).join(": "));
  const switches = element("p", { className: "switches" });
  for (const name of ["x", "y"]) {
    const values = points.map((p) => p[name]);
    if (panel[name].ticks || panel[name].scale === "symlog" || !values.length || !values.some((v) => v > 0) || (panel[name].scale !== "log" && d3.min(values) <= 0)) continue;
    const input = element("input", { type: "checkbox", checked: types[name] === "log" });
    input.addEventListener("change", () => {
      scale[name] = input.checked ? "log" : "linear";
      render();
    });
    switches.append(element("label", {}, input, ` log ${name}`));
  }
  return element("div", { className: "panel" }, element("p", { className: "name", textContent: panel.title }), plot, switches);
}

for (const button of all("button.explore")) {
  button.addEventListener("click", () => {
    const figure = button.closest("figure"), box = figure.querySelector(".plot");
    const now = figure.classList.toggle("open");
    box.hidden = !now;
    button.setAttribute("aria-pressed", String(now));
    button.textContent = now ? "as printed" : "explore";
    if (now) draw(box);
  });
}
for (const claim of claims) claim.addEventListener("toggle", () => { if (claim.open) all(".plot", claim).forEach(draw); });

// --- training -------------------------------------------------------------------------------
const decoded = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const diverging = (s) => s.ends[0] < 0 && s.ends[1] > 0;

function scrub(box) {
  const frames = data.frames[box.dataset.frames];
  if (!frames) return;
  const count = frames.times.length;
  const slider = element("input", { type: "range", min: 0, max: count - 1, value: count - 1, step: 1 });
  slider.setAttribute("aria-label", frames.time);
  const now = element("output"), play = element("button", { type: "button", textContent: "play" });
  const parts = frames.shown.map((s) => ({ map: mapFrame, points: pointsFrame, bars: barsFrame, curves: curvesFrame })[s.kind](s, frames));
  const show = () => {
    const k = +slider.value;
    now.textContent = `${frames.time} ${short(frames.times[k])}`;
    slider.setAttribute("aria-valuetext", now.textContent);
    for (const part of parts) part.show(k);
  };
  let timer = null;
  const stop = () => { clearInterval(timer); timer = null; play.textContent = "play"; };
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (+slider.value === count - 1) slider.value = 0;
    play.textContent = "stop";
    timer = setInterval(() => { if (+slider.value >= count - 1) return stop(); slider.value = +slider.value + 1; show(); }, 90);
  });
  slider.addEventListener("input", () => { if (timer) stop(); show(); });
  box.replaceChildren(element("div", { className: "control" }, play, slider, now),
    element("div", { className: "row" }, ...parts.map((p) => p.box)));
  live.set(box, () => { for (const part of parts) part.restyle?.(); show(); });
  show();
}

const framed = (s, child, note = "") => element("div", { className: "frame" }, element("p", { className: "name", textContent: s.name }), child, element("p", { className: "soft", textContent: note }));

function mapFrame(s) {
  const bytes = decoded(s.bytes), [, rows, columns] = s.shape;
  const labelled = s.rows.length === rows && rows <= 12, side = labelled ? Math.max(22, Math.floor(200 / Math.max(rows, columns))) : Math.max(1, Math.floor(220 / Math.max(rows, columns)));
  const left = labelled ? 14 + 6.2 * d3.max(s.rows, (r) => r.length) : 0, below = s.columns.length === columns && 6.2 * d3.max(s.columns, (c) => c.length) < side ? 18 : 0;
  const canvas = element("canvas", { width: columns, height: rows });
  const width = left + side * columns, height = side * rows + below;
  const wrap = element("div");
  Object.assign(wrap.style, { position: "relative", width: `${width}px`, height: `${height}px`, maxWidth: "100%" });
  Object.assign(canvas.style, { position: "absolute", left: `${left}px`, top: 0, width: `${side * columns}px`, height: `${side * rows}px`, imageRendering: "pixelated" });
  canvas.setAttribute("role", "img");
  const svg = d3.create("svg").attr("width", width).attr("height", height).attr("aria-hidden", "true");
  if (labelled) svg.selectAll(null).data(s.rows).join("text").attr("x", left - 4).attr("y", (_, i) => side * (i + 0.5) + 4).attr("text-anchor", "end").text(String);
  if (below) svg.selectAll(null).data(s.columns).join("text").attr("x", (_, i) => left + side * (i + 0.5)).attr("y", side * rows + 13).attr("text-anchor", "middle").text(String);
  wrap.append(svg.node(), canvas);
  const note = element("p", { className: "soft" });
  const at = (k, i) => bytes[(k * rows * columns) + i];
  const value = (b) => s.ends[0] + (b / 254) * (s.ends[1] - s.ends[0]);
  const largest = Math.max(Math.abs(s.ends[0]), Math.abs(s.ends[1]));
  const colour = (b) => diverging(s) ? d3.interpolatePuOr(0.5 - 0.5 * value(b) / largest) : d3.interpolateCividis(b / 254);
  const table = d3.range(255).map((b) => d3.rgb(colour(b)));
  let last = 0;
  canvas.addEventListener("mousemove", (event) => {
    const i = Math.floor(event.offsetY / canvas.clientHeight * rows), j = Math.floor(event.offsetX / canvas.clientWidth * columns);
    const b = at(last, i * columns + j);
    note.textContent = `${s.rows[i] ?? i}, ${s.columns[j] ?? j}: ${b === 255 ? "none" : short(value(b))}`;
  });
  const ends = `${short(s.ends[0])} to ${short(s.ends[1])}`;
  canvas.addEventListener("mouseleave", () => { note.textContent = ends; });
  note.textContent = ends;
  const box = element("div", { className: "frame" }, element("p", { className: "name", textContent: s.name }), wrap, note);
  return { box, show(k) {
    last = k;
    const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
    for (let i = 0; i < rows * columns; i += 1) {
      const b = at(k, i);
      if (b === 255) continue;
      const c = table[b];
      image.data.set([c.r, c.g, c.b, 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
    canvas.setAttribute("aria-label", `${s.name}, ${ends}`);
  } };
}

const tint = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#777777"];

function pointsFrame(s) {
  const [x, y] = s.bytes.map(decoded), n = s.shape[1], size = 220, pad = 30;
  const names = [...new Set(s.groups)], place = (b) => pad + (b / 254) * (size - 2 * pad + 20);
  const svg = d3.create("svg").attr("viewBox", `0 0 ${size} ${size}`).attr("width", size).attr("role", "img").attr("aria-label", s.name);
  const zero = (ends) => ends[0] < 0 && ends[1] > 0 ? 254 * -ends[0] / (ends[1] - ends[0]) : 0;
  svg.append("path").attr("d", `M${place(zero(s.ends[0]))} 8V${size - pad}M${pad} ${size - place(zero(s.ends[1]))}H${size - 8}`).attr("stroke", "currentColor").attr("opacity", 0.35);
  svg.append("text").attr("x", size / 2).attr("y", size - 6).attr("text-anchor", "middle").text(`${s.labels[0]}, ${short(s.ends[0][0])} to ${short(s.ends[0][1])}`);
  svg.append("text").attr("transform", `translate(11,${size / 2}) rotate(-90)`).attr("text-anchor", "middle").text(`${s.labels[1]}, ${short(s.ends[1][0])} to ${short(s.ends[1][1])}`);
  const dots = svg.append("g").selectAll("circle").data(s.groups).join("circle").attr("r", 2.6).attr("fill-opacity", 0.75);
  const restyle = () => dots.attr("fill", (g) => seen(tint[names.indexOf(g) % tint.length]));
  restyle();
  const keys = element("div", { className: "keys" }, ...names.map((name, i) => {
    const swatch = element("span", { className: "swatch" });
    Object.assign(swatch.style, { background: tint[i % tint.length], width: ".7em", borderRadius: "50%" });
    return element("span", { className: "soft" }, swatch, name);
  }));
  return { box: element("div", { className: "frame" }, element("p", { className: "name", textContent: s.name }), svg.node(), keys), restyle,
    show(k) { dots.attr("cx", (_, i) => place(x[k * n + i])).attr("cy", (_, i) => size - place(y[k * n + i])); } };
}

function barsFrame(s) {
  const high = Math.max(1e-12, d3.max(s.values, (row) => d3.max(row))), low = Math.min(0, d3.min(s.values, (row) => d3.min(row)));
  const left = 14 + 7.6 * d3.max(s.labels, (l) => l.length), width = left + 160, height = 22 * s.labels.length + 4;
  const scale = d3.scaleLinear([low, high], [left, left + 105]);
  const svg = d3.create("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("width", width).attr("role", "img").attr("aria-label", s.name);
  svg.selectAll("text.name").data(s.labels).join("text").attr("class", "name").attr("x", left - 5).attr("y", (_, i) => 22 * i + 15).attr("text-anchor", "end").text(String);
  const bars = svg.append("g").selectAll("rect").data(s.labels).join("rect").attr("y", (_, i) => 22 * i + 3).attr("height", 16);
  const restyle = () => bars.attr("fill", (_, i) => seen(tint[i % tint.length]));
  restyle();
  const values = svg.append("g").selectAll("text").data(s.labels).join("text").attr("y", (_, i) => 22 * i + 15);
  return { box: framed(s, svg.node()), restyle, show(k) {
    const row = s.values[k];
    bars.attr("x", (_, i) => Math.min(scale(0), scale(row[i]))).attr("width", (_, i) => Math.abs(scale(row[i]) - scale(0)));
    values.attr("x", (_, i) => Math.max(scale(0), scale(row[i])) + 4).text((_, i) => short(row[i]));
  } };
}

function curvesFrame(s, frames) {
  const host = element("div");
  let cursor = null, place = null;
  const restyle = () => {
    const names = Object.keys(s.series);
    const rows = names.flatMap((name) => s.series[name].map((y, i) => ({ name, y, t: frames.times[i] })));
    const positive = frames.times.filter((t) => t > 0);
    const plot = Plot.plot({ width: 320, height: 220, marginLeft: 48, marginRight: 12,
      x: { type: positive.length > 2 ? "log" : "linear", domain: [positive[0] ?? 0, frames.times.at(-1)], label: frames.time, ticks: 5, tickFormat: short },
      y: { type: s.log ? "log" : "linear", label: null, grid: true, ticks: 5, tickFormat: short }, color: { domain: names, range: names.map((_, i) => seen(tint[i % tint.length])), legend: names.length > 1 },
      marks: [Plot.line(rows.filter((r) => r.t > 0 && (!s.log || r.y > 0)), { x: "t", y: "y", stroke: "name", strokeWidth: 1.6 })], style: { background: "none" } });
    host.replaceChildren(plot);
    const svg = plot.tagName.toLowerCase() === "svg" ? plot : [...plot.querySelectorAll("svg")].at(-1);
    place = plot.scale("x");
    cursor = d3.select(svg).append("path").attr("stroke", "currentColor").attr("stroke-width", 1.5).attr("stroke-dasharray", "3,2");
    all("svg", host).forEach((one) => { named(one); one.setAttribute("aria-label", s.name); });
  };
  restyle();
  return { box: framed(s, host), restyle, show(k) {
    const t = Math.max(frames.times[k], place.domain[0]);
    cursor.attr("d", `M${place.apply(t)} 20V190`);
  } };
}

// --- start ----------------------------------------------------------------------------------
(async () => {
  for (const packed of all("script.bundle")) {
    const script = element("script", { textContent: await unpacked(packed.textContent) });
    document.head.append(script); // runs at once, and only because the policy knows its sum
  }
  data = JSON.parse(await unpacked(document.getElementById("data").textContent));
  for (const button of all("button.explore")) button.hidden = !data.figures[button.closest("figure").querySelector(".plot").dataset.figure];
  all(".scrub").forEach(scrub);
  for (const claim of claims) if (claim.open) all(".plot", claim).forEach(draw);
  root.dataset.milliseconds = String(Math.round(performance.now()));
  root.dataset.ready = "yes";
  open();
})();
open();
