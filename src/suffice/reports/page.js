"use strict";
(() => {
// ---- data -------------------------------------------------------------------------------------------------
const data = JSON.parse(document.getElementById("data").textContent);
const model = window.sufficeModel;
const classes = data.classes, labels = data.labels, K = classes.length, n = data.rows.sample;
const EPS = 2 ** -52, BINS = 15, MOST_MATRIX = 15, MOST_COST_MATRIX = 6, MOST_CONTROLS = 30, MANY_FIELDS = 40;
const DASHES = ["", "7 4", "2 4", "7 3 2 3", "10 3 2 3 2 3"];
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
const truth = new Uint16Array(bytes(data.truth));
const weight = data.weight ? new Float32Array(bytes(data.weight)) : new Float32Array(n).fill(1);
const scores = data.models.map(one => new Float32Array(bytes(one.scores)));
const joints = scores.map(own => Float64Array.from(own, Math.exp)); // so that other priors are products
const total = weight.reduce((a, b) => a + b, 0);
const common = classes.map((_, k) => k).sort((a, b) => data.shares[b] - data.shares[a]).slice(0, MOST_CONTROLS).sort((a, b) => a - b);
const commonest = classes.reduce((best, _, k) => data.shares[k] > data.shares[best] ? k : best, 0);
const isWhole = data.rows.sample === data.rows.all;

// ---- elements ---------------------------------------------------------------------------------------------
const SVG = "http://www.w3.org/2000/svg";
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("aria-")) node.setAttribute(name, String(value));
    else if (value === false) continue;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const bdi = text => el("bdi", {class: String(text).length > 24 ? "long" : null}, // a line may end after the marks that join words
  String(text).split(/(?<=[_./-])(?=[^_./-])/).map((part, i) => i ? [el("wbr"), part] : part));
const at = id => document.getElementById(id);
const sure = value => value !== null && value !== undefined && !Number.isNaN(value);
const figure3 = value => sure(value) ? value.toFixed(3) : "–";
const percent = value => sure(value) ? (100 * value).toFixed(1) + " %" : "–";
const grouped = new Intl.NumberFormat("en", {maximumFractionDigits: 1});
const count = value => grouped.format(Math.round(value * 1e6) / 1e6);
const signed = (value, digits = 2) => !sure(value) ? "±∞" : (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
const short = value => !sure(value) ? "–" : value === 0 ? "0" :
  Math.abs(value) < 1e-3 || Math.abs(value) >= 1e15 ? value.toExponential(1) :
    Math.abs(value) >= 1e5 ? value.toLocaleString("en", {notation: "compact"}) : String(+value.toPrecision(4));
const tint = i => `var(--c${i % 6})`;
const painted = data.pictures ? data.pictures.classes : common.slice(0, 6);
const colour = k => painted.includes(k) ? tint(painted.indexOf(k)) : "var(--other)";
const sides = (node, a, b) => { // the colours of two classes, for what speaks for one and against it
  node.style.setProperty("--for", colour(a));
  node.style.setProperty("--against", colour(b) === colour(a) ? "var(--rest)" : colour(b));
  return node;
};
const swatch = name => svg("svg", {viewBox: "0 0 10 10", class: "swatch", "aria-hidden": true}, svg("rect", {width: 10, height: 10, rx: 2, fill: `var(${name})`}));
const dash = k => DASHES[k % DASHES.length];
const plain = text => { // as names are written: nothing hidden, nothing long
  const seen = String(text).slice(0, 61).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, one => "\\u" + one.codePointAt(0).toString(16).padStart(4, "0"));
  return seen.length > 60 ? seen.slice(0, 59) + "…" : seen;
};
const plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many || one + "s"}`;

const LEFT = new Set(["family", "why", "decision"]);
function table(caption, heads, lines, className) {
  const body = lines.map(([first, ...cells]) => el("tr", null, el("th", {scope: "row"}, first),
    cells.map(cell => cell instanceof Node && cell.nodeName === "TD" ? cell : el("td", null, cell))));
  return el("table", {class: className}, caption ? el("caption", null, caption) : null,
    el("thead", null, el("tr", null, heads.map((head, i) => i || head ?
      el("th", {scope: "col", class: i && !LEFT.has(head) ? null : "left"}, head) : el("td")))), el("tbody", null, body));
}
const behind = (...tables) => el("details", null, el("summary", null, "Show as a table"),
  el("div", {class: "scroll"}, tables));

// ---- what the scores say under priors and costs -----------------------------------------------------------
const unitCosts = () => Array.from({length: K}, (_, k) => Array.from({length: K}, (_, j) => k === j ? 0 : 1));
const begin = () => ({
  model: 0, class: K === 2 ? 1 : commonest, priors: null,
  costs: data.costs ? data.costs.matrix.map(line => [...line]) : unitCosts(),
  reject: data.costs ? data.costs.reject : null, why: "all", row: 0, cells: filled((data.form.rows || [])[0] || []),
});
const known = (cell, i) => data.form.fields[i].levels && Array.isArray(cell) ? data.form.fields[i].levels[cell[0]] : cell;
const filled = row => Object.fromEntries(row.map((cell, i) => [i, known(cell, i)]).filter(([, cell]) => cell !== null));
let state = null;

function shifts(m, priors) {
  const old = data.models[m].priors;
  if (!priors || data.models[m].ignoresPriors) return new Float64Array(K);
  return Float64Array.from(priors, (p, k) => old[k] > 0 ? Math.log(p) - Math.log(old[k]) : -Infinity);
}

function posteriors(m, priors) {
  const shift = shifts(m, priors), own = scores[m], joint = joints[m], p = new Float64Array(n * K);
  const factor = shift.map(Math.exp), fallback = Float64Array.from(priors || data.models[m].priors);
  for (let i = 0, o = 0; i < n; i++, o += K) {
    let z = 0;
    for (let k = 0; k < K; k++) z += p[o + k] = joint[o + k] * factor[k];
    if (z < 1e-200) { // the classes that are left are too small to be told apart: in logs
      let top = -Infinity;
      for (let k = 0; k < K; k++) top = Math.max(top, own[o + k] + shift[k]);
      z = 0;
      for (let k = 0; k < K; k++) z += p[o + k] = top > -1e38 ? Math.exp(own[o + k] + shift[k] - top) : fallback[k];
    }
    for (let k = 0; k < K; k++) p[o + k] /= z;
  }
  return p;
}

function results(m, {priors, costs, reject}) {
  const p = posteriors(m, priors), L = labels.length;
  const price = Float64Array.from(costs.flat());
  // What deciding j saves where the truth is k; often nothing but for j = k, so the others are not summed.
  const saved = price.map((c, i) => c - Math.max(...costs[Math.floor(i / K)]));
  const saving = costs.map((_, k) => Uint16Array.from(classes.keys()).filter(j => saved[k * K + j] !== 0));
  const confusion = Array.from({length: L}, () => new Float64Array(K + 1));
  const gaps = new Float64Array(BINS), expected = new Float64Array(K);
  let loss = 0, squares = 0, right = 0, cost = 0, known = 0, refused = 0, sharp = 0;
  for (let i = 0, o = 0; i < n; i++, o += K) {
    const w = weight[i], t = truth[i];
    let best = 0, top = 0, square = t < K ? 0 : 1, risk = 0;
    expected.fill(0);
    for (let k = 0; k < K; k++) {
      const mass = p[o + k];
      if (mass > p[o + top]) top = k;
      square += (mass - (k === t ? 1 : 0)) ** 2;
      for (let j = 0; j < saving[k].length; j++) expected[saving[k][j]] += mass * saved[k * K + saving[k][j]];
    }
    for (let j = 1; j < K; j++) if (expected[j] < expected[best]) best = j;
    for (let k = 0; k < K; k++) risk += p[o + k] * price[k * K + best];
    if (reject !== null && risk > reject) { best = K; refused += w; }
    confusion[t][best] += w;
    loss -= w * Math.log(Math.min(Math.max(t < K ? p[o + t] : 0, EPS), 1 - EPS));
    squares += w * square;
    const bin = Math.min(Math.max(Math.ceil(p[o + top] * BINS) - 1, 0), BINS - 1);
    gaps[bin] += w * ((top === t ? 1 : 0) - p[o + top]);
    sharp += w * (top === t ? 1 : 0);
    if (best === t) right += w;
    if (t < K) { cost += w * (best === K ? reject : price[t * K + best]); known += w; }
  }
  const byClass = classes.map((_, k) => {
    const of = confusion[k].reduce((a, b) => a + b, 0), given = confusion.reduce((a, line) => a + line[k], 0);
    return {rows: of, precision: given ? confusion[k][k] / given : NaN, recall: of ? confusion[k][k] / of : NaN};
  });
  return {
    posteriors: p, confusion: confusion.map(line => Array.from(line)), byClass,
    accuracy: right / total, log_loss: loss / total, brier: squares / total * (L === 2 ? .5 : 1),
    ece: gaps.reduce((a, b) => a + Math.abs(b), 0) / total, mean_cost: cost / known, refused: refused / total,
    most_probable: sharp / total,
  };
}

const orders = classes.map(() => null); // as they were: nearly sorted is sorted soon
function curves(p, k) {
  const order = orders[k] = (orders[k] || Array.from(truth.keys())).sort((a, b) => p[b * K + k] - p[a * K + k]);
  let hits = 0, misses = 0, positives = 0, area = 0;
  for (let i = 0; i < n; i++) if (truth[i] === k) positives += weight[i];
  const negatives = total - positives, roc = [[0, 0]], pr = [];
  for (let i = 0; i < n;) {
    const value = p[order[i] * K + k];
    let h = 0, f = 0;
    for (; i < n && p[order[i] * K + k] === value; i++) {
      if (truth[order[i]] === k) h += weight[order[i]]; else f += weight[order[i]];
    }
    area += f * (hits + h / 2);
    hits += h; misses += f;
    roc.push([misses / negatives, hits / positives]);
    pr.push([hits / positives, hits / (hits + misses)]);
  }
  return {roc, pr, area: area / (positives * negatives), positives, share: positives / total};
}

function reliability(p, k) {
  const bins = Array.from({length: 10}, (_, b) => ({low: b / 10, n: 0, w: 0, p: 0, hits: 0}));
  for (let i = 0; i < n; i++) {
    const value = p[i * K + k], bin = bins[Math.min(Math.floor(value * 10), 9)];
    bin.n += 1; bin.w += weight[i]; bin.p += weight[i] * value; bin.hits += truth[i] === k ? weight[i] : 0;
  }
  for (const bin of bins) {
    const z = 1.959963984540054, share = bin.w ? bin.hits / bin.w : NaN, down = 1 + z * z / bin.w;
    const centre = (share + z * z / (2 * bin.w)) / down;
    const half = z / down * Math.sqrt(share * (1 - share) / bin.w + z * z / (4 * bin.w * bin.w));
    Object.assign(bin, {share, mean: bin.w ? bin.p / bin.w : NaN, from: Math.max(centre - half, 0), to: Math.min(centre + half, 1)});
  }
  return bins;
}

// ---- figures ----------------------------------------------------------------------------------------------
function ticks(low, high, most = 5) {
  const raw = (high - low) / most || 1, size = 10 ** Math.floor(Math.log10(raw)), times = raw / size;
  const step = size * (times < Math.SQRT2 ? 1 : times < Math.sqrt(10) ? 2 : times < Math.sqrt(50) ? 5 : 10);
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) found.push(+value.toPrecision(12));
  return found;
}
const iso = (seconds, letters) => Math.abs(seconds) < 8e12 ? new Date(seconds * 1000).toISOString().slice(0, letters) : "";
const moments = (low, high) => ticks(low, high, 3).map(value => [value, iso(value, high - low > 2 * 86400 ? 10 : 16).replace("T", " ")]);
function frame({label, x, y, xName, yName, w = 440, h = 280, xTicks, yTicks}) {
  const m = {l: w > 400 ? 58 : 46, r: 14, t: 10, b: xName ? 42 : 26};
  const sx = value => m.l + (value - x[0]) / (x[1] - x[0] || 1) * (w - m.l - m.r);
  const sy = value => h - m.b - (value - y[0]) / (y[1] - y[0] || 1) * (h - m.t - m.b);
  const root = svg("svg", {viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": label, class: w > 400 ? "wide" : null});
  for (const [value, name] of (xTicks || ticks(...x)).map(one => Array.isArray(one) ? one : [one, short(one)])) {
    root.append(svg("text", {x: sx(value), y: h - m.b + 16, "text-anchor": "middle"}, name));
  }
  for (const [value, name] of (yTicks || ticks(...y)).map(one => Array.isArray(one) ? one : [one, short(one)])) {
    root.append(svg("line", {class: "axis", x1: m.l, x2: w - m.r, y1: sy(value), y2: sy(value)}),
      svg("text", {x: m.l - 6, y: sy(value) + 4, "text-anchor": "end"}, name));
  }
  if (xName) root.append(svg("text", {x: (m.l + w - m.r) / 2, y: h - 6, "text-anchor": "middle"}, xName));
  if (yName) root.append(svg("text", {x: 12, y: (m.t + h - m.b) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(m.t + h - m.b) / 2})`}, yName));
  return {root, sx, sy};
}
const path = (points, sx, sy) => {
  let pen = "M", text = "";
  for (const [x, y] of points) {
    if (!sure(x) || !sure(y)) { pen = "M"; continue; }
    text += `${pen}${sx(x).toFixed(1)} ${sy(y).toFixed(1)}`; pen = "L";
  }
  return text;
};
const thin = points => points.filter((_, i) => i % Math.max(1, Math.floor(points.length / 400)) === 0 || i === points.length - 1);
const drawn = (title, note, root, ...tables) => el("figure", {class: "card"},
  el("figcaption", null, title, " ", el("small", null, note)), root, behind(...tables));
function meter(share, fill) {
  const root = svg("svg", {viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": true});
  root.append(svg("rect", {x: 0, y: 2, width: 100, height: 10, rx: 1, fill: "var(--fill)"}),
    svg("rect", {x: 0, y: 2, width: Math.max(100 * share, .6), height: 10, rx: 1, fill}));
  return root;
}

function waterfall({start, said, rest, unit}, a, b) {
  const lines = [[start[0], "", start[1]], ...said];
  if (rest[0] || Math.abs(rest[1]) >= .005) lines.push([rest[0] ? plural(rest[0], "other") : "(rest)", "", rest[1]]);
  let low = 0, high = 0, sum = 0;
  const placed = lines.map(([name, value, gain]) => {
    const from = sum;
    sum += sure(gain) ? gain : 0;
    low = Math.min(low, sum); high = Math.max(high, sum);
    return {name, value, gain, from, to: sum};
  });
  const x = value => 100 * (value - low) / (high - low || 1);
  const bar = (from, to, gain) => {
    const root = svg("svg", {viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": true});
    root.append(svg("line", {class: "axis", x1: x(0), x2: x(0), y1: 0, y2: 16, "vector-effect": "non-scaling-stroke"}),
      svg("rect", {x: Math.min(x(from), x(to)), y: 3, width: Math.max(Math.abs(x(to) - x(from)), .7), height: 10, fill: gain < 0 ? "var(--against)" : "var(--for)"}));
    return el("td", {class: "bar"}, root);
  };
  const row = (one, name) => el("tr", {class: name}, el("th", {scope: "row"}, bdi(one.name)), el("td", {class: "value"}, bdi(one.value)),
    bar(one.from, one.to, one.gain), el("td", null, signed(one.gain)));
  return sides(el("table", {class: "waterfall"}, el("caption", null, `${unit} for `, swatch("--for"), bdi(classes[a]), " against ", swatch("--against"), bdi(classes[b])),
    el("tbody", null, placed.map(one => row(one, null)), row({name: unit === "nats" ? "log odds" : "score", value: "", gain: sum, from: 0, to: sum}, "sum"))), a, b);
}

// ---- sections ---------------------------------------------------------------------------------------------
const NAMES = {accuracy: "Accuracy", log_loss: "Log loss", brier: "Brier score", ece: "Calibration error", roc_auc: "ROC AUC"};
const put = (id, ...nodes) => at(id).append(...nodes.flat(Infinity).filter(node => node !== null));
const heading = (title, ...note) => [el("h2", null, title), el("p", {class: "note"}, note)];
const sampled = () => isWhole ? `all ${count(n)} rows` : `a random sample of ${count(n)} of ${count(data.rows.all)} rows`;

function summary() {
  const [first] = data.metrics, base = data.metrics[data.metrics.length - 1];
  const tiles = Object.entries(NAMES).map(([key, name]) => el("div", {class: "tile", "data-metric": key}, el("span", null, name),
    el("b", null, figure3(first[key])), el("span", null, bdi(base.name), " ", figure3(base[key]))));
  const several = data.models.length > 1;
  const lines = data.metrics.map(one => [bdi(one.name), ...Object.keys(NAMES).map(key => figure3(one[key])),
    ...(several ? [one.beyond === undefined || one === first ? "" : `${signed(one.beyond, 3)} ± ${one.error.toFixed(3)}`] : [])]);
  const shares = data.labels.map((name, k) => [bdi(name), percent(data.shares[k]), k < K ? percent(data.models[0].priors[k]) : "not known to the model"]);
  put("summary", heading("Summary", "Metrics of ", data.rows.all === 1 ? "the row" : `all ${count(data.rows.all)} rows`,
    data.rows.weight === null ? "" : ` of weight ${count(data.rows.weight)}`, ", beside always answering the most common class with the class shares as probabilities."),
  el("div", {class: "tiles"}, tiles),
  el("div", {class: "stack"},
    several ? el("div", {class: "card"}, el("p", {class: "note"}, "On the same rows. The last column is the log loss beyond that of the first model, with its standard error over the rows."),
      el("div", {class: "scroll"}, table("", ["", ...Object.values(NAMES), "log loss beyond"], lines, "metrics"))) : null,
    el("div", {class: `card scroll shares${labels.length > 8 ? " many" : ""}`}, table("", ["class", "share of the rows", "prior of the model"], shares))));
}

const live = {};
function decide() {
  const prior = el("fieldset", null, el("legend", null, "Class priors"));
  const list = el("div", {class: K > 8 ? "many" : null});
  live.priors = common.map(k => {
    const name = classes[k];
    const range = el("input", {type: "range", min: 0, max: 1, step: "any", "aria-label": `Prior of ${name}`, oninput: () => setPrior(k, +range.value)});
    const box = el("input", {type: "number", min: 0, max: 1, step: .001, "aria-label": `Prior of ${name} as a number`, onchange: () => setPrior(k, +box.value)});
    list.append(el("div", {class: "control"}, el("label", {title: name}, bdi(name)), range, box));
    return {k, range, box};
  });
  const uniform = () => classes.map(() => 1 / K), sharesOfClasses = data.shares.slice(0, K);
  if (K > MOST_CONTROLS) list.append(el("p", {class: "note"}, `The ${MOST_CONTROLS} most common of ${count(K)} classes.`));
  prior.append(list, el("div", {class: "buttons"}, el("button", {type: "button", onclick: () => change({priors: null})}, "as trained"),
    sharesOfClasses.some(share => share > 0) ? el("button", {type: "button", onclick: () => change({priors: normalised(sharesOfClasses)})}, "as in these rows") : null,
    el("button", {type: "button", onclick: () => change({priors: uniform()})}, "equal")));
  live.priorNote = el("p", {class: "note"});
  prior.append(live.priorNote);
  const cost = el("fieldset", null, el("legend", null, "What it costs to miss a class"));
  const misses = el("div", {class: K > 8 ? "many" : null});
  live.misses = common.map(k => {
    const name = classes[k];
    const range = el("input", {type: "range", min: 0, max: 20, step: .5, "aria-label": `Cost of missing ${name}`, oninput: () => {
      change({costs: state.costs.map((line, i) => i === k ? line.map((_, j) => j === k ? 0 : +range.value) : line)});
    }});
    const shown = el("output");
    misses.append(el("div", {class: "control"}, el("label", {title: name}, bdi(name)), range, shown));
    return {k, range, shown};
  });
  cost.append(misses);
  live.costs = [];
  if (K <= MOST_COST_MATRIX) {
    const lines = classes.map((name, k) => [bdi(name), ...classes.map((other, j) => {
      const box = el("input", {type: "number", step: "any", "aria-label": `Cost where the truth is ${name} and the decision ${other}`, onchange: () => {
        change({costs: state.costs.map((line, a) => line.map((c, b) => a === k && b === j && Number.isFinite(+box.value) ? +box.value : c))});
      }});
      live.costs.push([k, j, box]);
      return box;
    })]);
    cost.append(el("details", null, el("summary", null, "Every cost"), el("div", {class: "scroll"}, table("Truth down, decision across", ["", ...classes.map(bdi)], lines, "costs"))));
  }
  const refuse = el("fieldset", null, el("legend", null, "Refusing to decide"));
  live.refuses = el("input", {type: "checkbox", id: "refuses", onchange: () => change({reject: live.refuses.checked ? largestCost() / 4 : null})});
  live.reject = el("input", {type: "range", min: 0, step: "any", "aria-label": "Refusal threshold: the expected cost above which a row is refused", oninput: () => change({reject: +live.reject.value})});
  live.rejectShown = el("output");
  refuse.append(el("p", {class: "note"}, live.refuses, " ", el("label", {for: "refuses"}, "Refuse rows whose decision has a higher expected cost than")),
    el("div", {class: "control"}, el("span", null, "threshold"), live.reject, live.rejectShown));
  const several = data.models.length > 1;
  live.metrics = table(several ? "Now" : "", ["", ...(several ? data.models.map(one => bdi(one.name)) : ["as trained", "now"])],
    Object.entries(LIVE).map(([key, [name]]) => [name, ...(several ? data.models.map(() => "") : ["", el("td", {class: "own", "data-live": key})])]), "live");
  live.confusion = el("div", {class: K > MOST_MATRIX ? "scroll many" : "scroll"});
  live.byClass = table("By class", ["", "precision", "recall", "rows"], common.map(k => [bdi(classes[k]), "", "", ""]));
  put("decide", heading("Priors, costs, refusal", `Recomputed here from the joint scores of ${sampled()}: move a slider, and posteriors, decisions and everything below follow.`), picker("model"),
    el("div", {class: "two"}, el("div", {class: "card stack"}, prior, cost, refuse, el("div", {class: "buttons"}, el("button", {type: "button", onclick: () => { const kept = state; state = {...begin(), model: kept.model, class: kept.class, cells: kept.cells, row: kept.row, why: kept.why}; update(); }}, "reset"))),
      el("div", {class: "card stack"}, el("div", {class: "scroll", "aria-live": "polite"}, live.metrics), live.confusion, el("div", {class: K > 12 ? "scroll many" : "scroll"}, live.byClass))));
}
const largestCost = () => Math.max(...state.costs.flat());
const normalised = p => { const sum = p.reduce((a, b) => a + b, 0); return p.map(one => one / sum); };
const priorsNow = () => state.priors || data.models[state.model].priors;
function setPrior(k, value) {
  if (!Number.isFinite(value) || K === 1) return update();
  const now = priorsNow(), chosen = Math.min(Math.max(value, 0), 1), rest = 1 - now[k];
  change({priors: now.map((p, j) => j === k ? chosen : rest > 0 ? p * (1 - chosen) / rest : (1 - chosen) / (K - 1))});
}
function picker(kind) {
  if (kind === "model" && data.models.length < 2) return null;
  const names = kind === "model" ? data.models.map(one => one.name) : classes;
  const select = el("select", {id: `pick-${kind}`, onchange: () => change({[kind]: +select.value})}, names.map((name, i) => el("option", {value: i}, name)));
  (live.picks = live.picks || []).push([kind, select]);
  return el("div", {class: "pick"}, el("label", {for: `pick-${kind}`}, kind === "model" ? "Model" : "Class"), select);
}

const LIVE = {accuracy: ["Accuracy", percent], mean_cost: ["Mean cost", figure3], refused: ["Refused", percent], log_loss: ["Log loss", figure3], brier: ["Brier score", figure3], ece: ["Calibration error", figure3]};
let before = null;
function update() {
  const seen = Object.keys(later).filter(id => isSeen(at(id))), settings = {priors: state.priors, costs: state.costs, reject: state.reject};
  if (!before || before.model !== state.model) before = {model: state.model, ...results(state.model, begin())};
  live.now = results(state.model, settings);
  const others = data.models.length > 1 ? data.models.map((_, m) => m === state.model ? live.now : results(m, settings)) : [before, live.now];
  for (const [kind, select] of live.picks || []) select.value = state[kind];
  const priors = priorsNow(), {ignoresPriors, reported} = data.models[state.model];
  live.priors.forEach(({k, range, box}) => { assign(range, priors[k]); assign(box, priors[k].toFixed(3)); range.disabled = box.disabled = ignoresPriors; });
  write(live.priorNote, ignoresPriors ? "This model ignores priors." :
    reported ? "" : "The model does not report the priors it was trained with; the class shares of these rows stand in for them.");
  live.misses.forEach(({k, range, shown}) => { const line = state.costs[k].filter((_, j) => j !== k); assign(range, line[0]); write(shown, line.every(c => c === line[0]) ? short(line[0]) : "varies"); });
  live.costs.forEach(([k, j, box]) => { if (document.activeElement !== box) box.value = state.costs[k][j]; });
  live.refuses.checked = state.reject !== null;
  live.reject.max = Math.max(largestCost(), 1e-9); live.reject.disabled = state.reject === null; assign(live.reject, state.reject === null ? live.reject.max : state.reject);
  write(live.rejectShown, state.reject === null ? "off" : short(state.reject));
  writeAll(live.metrics, Object.entries(LIVE).map(([key, [, show]]) => others.map(one => show(one[key]))));
  confusionNow(live.now);
  writeAll(live.byClass, common.map(k => live.now.byClass[k]).map(one => [percent(one.precision), percent(one.recall), count(one.rows)]));
  for (const id of seen) later[id]();
  clearTimeout(timer);
  stale = Object.keys(later).filter(id => !seen.includes(id));
  timer = setTimeout(rest, 150);
}
// What is out of sight, and the address, follow when a slider rests.
const later = {};
let stale = [], timer = 0;
function rest() {
  clearTimeout(timer);
  for (const id of stale.splice(0)) later[id]();
  remember();
}
const isSeen = node => { const {top, bottom} = node.getBoundingClientRect(); return bottom > 0 && top < window.innerHeight; };
let asked = false;
function change(part) {
  state = {...state, ...part};
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; update(); });
}

// Only what differs is written: the browser lays out little again.
const write = (node, text) => { if (node.textContent !== text) node.textContent = text; };
const writeAll = (made, lines) => lines.forEach((line, i) => line.forEach((text, j) => write(made.tBodies[0].rows[i].cells[j + 1], text)));
const assign = (input, value) => { if (input.value !== String(value)) input.value = value; };

function confusionNow(now) {
  if (K > MOST_MATRIX) {
    const errors = [];
    now.confusion.forEach((line, t) => line.forEach((rows, d) => { if (d !== t && rows) errors.push([rows, t, d]); }));
    errors.sort((a, b) => b[0] - a[0]);
    live.confusion.replaceChildren(table("The most frequent confusions", ["truth", "decision", "rows"],
      errors.slice(0, 20).map(([rows, t, d]) => [bdi(labels[t]), el("td", {class: "left"}, d === K ? "refused" : bdi(classes[d])), count(rows)])));
    return;
  }
  const refused = state.reject !== null;
  if (!live.matrix || live.matrix.refused !== refused) {
    const shown = K + (refused ? 1 : 0), cells = labels.map((_, t) => Array.from({length: shown}, (_, d) => el("td", {"data-cell": `${t},${d}`})));
    live.matrix = {refused, cells, shades: cells.map(line => line.map(() => 0))};
    live.confusion.replaceChildren(table("Confusion: truth down, decision across", ["", ...classes.map(bdi), ...(refused ? ["refused"] : [])],
      cells.map((line, t) => [bdi(labels[t]), ...line]), "confusion"));
  }
  const {cells, shades} = live.matrix;
  cells.forEach((line, t) => {
    const of = now.confusion[t].reduce((a, b) => a + b, 0);
    line.forEach((cell, d) => {
      const rows = now.confusion[t][d], shade = rows ? Math.round(8 + 47 * rows / of) : 0;
      write(cell, count(rows));
      if (shade === shades[t][d]) return;
      shades[t][d] = shade;
      cell.style.background = shade ? `color-mix(in srgb, var(${d === t ? "--good" : "--bad"}) ${shade}%, transparent)` : "";
    });
  });
}

function probabilities() {
  live.figures = el("div", {class: "even"});
  put("probabilities", heading("Probabilities", `How far the posteriors can be believed and how well they rank, for one class against the rest, under the priors above; from ${sampled()}.`), K > 1 ? picker("class") : null, live.figures);
  later.probabilities = () => probabilitiesNow(live.now.posteriors);
}
function probabilitiesNow(p) {
  const k = state.class, bins = reliability(p, k), {roc, pr, area, share} = curves(p, k), unit = [0, 1];
  const stroke = {class: "curve", stroke: "var(--accent)"};
  const rel = frame({label: `Reliability of the probability of ${classes[k]}`, x: unit, y: unit, xName: "predicted probability", yName: "share observed"});
  rel.root.append(svg("path", {class: "diagonal", d: path([[0, 0], [1, 1]], rel.sx, rel.sy)}));
  const seen = bins.filter(bin => bin.n);
  for (const bin of seen) rel.root.append(svg("line", {stroke: "var(--accent)", "stroke-opacity": .45, x1: rel.sx(bin.mean), x2: rel.sx(bin.mean), y1: rel.sy(bin.from), y2: rel.sy(bin.to)}));
  rel.root.append(svg("path", {...stroke, d: path(seen.map(bin => [bin.mean, bin.share]), rel.sx, rel.sy)}));
  for (const bin of seen) rel.root.append(svg("circle", {cx: rel.sx(bin.mean), cy: rel.sy(bin.share), r: 3.5, fill: "var(--accent)"}));
  const most = Math.max(...bins.map(bin => bin.w), 1);
  const his = frame({label: `Histogram of the probability of ${classes[k]}`, x: unit, y: [0, most], xName: "predicted probability", yName: "rows"});
  for (const bin of bins) {
    his.root.append(svg("rect", {x: his.sx(bin.low) + 1, y: his.sy(bin.w), width: his.sx(.1) - his.sx(0) - 2, height: his.sy(0) - his.sy(bin.w), fill: "var(--accent)", "fill-opacity": .3}),
      svg("rect", {x: his.sx(bin.low) + 1, y: his.sy(bin.hits), width: his.sx(.1) - his.sx(0) - 2, height: his.sy(0) - his.sy(bin.hits), fill: "var(--accent)"}));
  }
  const r = frame({label: `ROC curve of ${classes[k]}, area ${figure3(area)}`, x: unit, y: unit, xName: "false positive rate", yName: "true positive rate"});
  r.root.append(svg("path", {class: "diagonal", d: path([[0, 0], [1, 1]], r.sx, r.sy)}), svg("path", {...stroke, d: path(thin(roc), r.sx, r.sy)}));
  const q = frame({label: `Precision and recall of ${classes[k]}`, x: unit, y: unit, xName: "recall", yName: "precision"});
  q.root.append(svg("path", {class: "diagonal", d: path([[0, share], [1, share]], q.sx, q.sy)}), svg("path", {...stroke, d: path(thin(pr), q.sx, q.sy)}));
  const few = points => points.filter((_, i) => i % Math.max(1, Math.floor(points.length / 20)) === 0 || i === points.length - 1);
  live.figures.replaceChildren(
    drawn("Reliability", "with 95 % intervals; the diagonal is perfect", rel.root, table("", ["predicted", "mean", "observed", "rows"], bins.map(bin => [`${bin.low.toFixed(1)}–${(bin.low + .1).toFixed(1)}`, figure3(bin.mean), figure3(bin.share), count(bin.w)]))),
    drawn("Histogram of probabilities", "strong: rows of the class", his.root, table("", ["predicted", "rows", "of the class"], bins.map(bin => [`${bin.low.toFixed(1)}–${(bin.low + .1).toFixed(1)}`, count(bin.w), count(bin.hits)]))),
    drawn("ROC curve", sure(area) ? `area ${figure3(area)}` : "needs rows of this class and of others", r.root, table("", ["false positive rate", "true positive rate"], few(roc).map(point => point.map(figure3)))),
    drawn("Precision and recall", `the line is the share of the class, ${percent(share)}`, q.root, table("", ["recall", "precision"], few(pr).map(point => point.map(figure3)))));
}

function columns() {
  if (!data.schema) { at("columns").hidden = true; return; }
  const {columns: listed, more} = data.schema, held = listed.some(one => sure(one.gained)), trained = listed.some(one => sure(one.nats));
  const lines = listed.map(one => [bdi(one.name), el("td", {class: "left"}, one.family), ...(held ? [sure(one.gained) ? one.gained.toFixed(3) : "–", sure(one.believed) ? one.believed.toFixed(3) : "–"] : []),
    ...(trained ? [sure(one.nats) ? one.nats.toFixed(3) : "–"] : []), el("td", {class: "reason"}, one.reason)]);
  const made = table("", ["column", "family", ...(held ? ["nats gained", "nats believed"] : []), ...(trained ? ["held out in training"] : []), "why"], lines);
  at("columns").append(...heading("Columns", "What the model took each column for",
    held ? `, and the nats per row that the column, by itself, adds to these rows for the true class, beside those that the model believes it adds (from ${sampled()}).` : "."));
  const pictures = data.pictures;
  if (pictures) {
    const two = !pictures.lines.length, all = pictures.panels.flatMap(one => one.nats.flat()).filter(sure);
    const weakest = Math.min(all.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-6), 1); // weak columns look weak, unless all are
    const legend = (two ? [[classes[0], "0"], [classes[1], "1"]] : pictures.lines.map((name, i) => [name, i])).map(([name, i]) => el("li", null,
      svg("svg", {viewBox: "0 0 26 10", "aria-hidden": true}, svg("line", {class: "curve", x1: 1, x2: 25, y1: 5, y2: 5, stroke: tint(+i), "stroke-dasharray": two ? "" : dash(+i)})), bdi(name)));
    at("columns").append(el("p", {class: "note"}, two ? ["Each picture: nats for ", bdi(classes[1]), " against ", bdi(classes[0]), " at each value, above what the rows of each class hold."] :
      "Each picture: nats for each class, beyond the mean over the classes, at each value, above what the rows of each class hold.", pictures.more ? ` The ${pictures.panels.length} columns that add most; ${plural(pictures.more, "other is", "others are")} not drawn.` : ""),
    el("ul", {class: "legend", "aria-label": "Classes"}, legend), el("div", {class: "panels"}, pictures.panels.map(one => panel(one, two, weakest))));
  }
  const folded = el("div", {class: "card scroll schema"}, made, more ? el("p", {class: "note"}, `and ${plural(more, "more column")}`) : null);
  const schemaFirst = at("columns").querySelector("h2 + .note");
  const shown = listed.length > 30 ? el("details", null, el("summary", null, `All ${plural(listed.length + more, "column")}`), folded) : folded;
  schemaFirst.after(el("div", {class: "stack"}, shown, el("p")));
}
function panel(one, two, weakest) {
  const lines = one.nats, flat = lines.flat().filter(sure), beneath = one.rows;
  const bound = Math.min(Math.max(weakest, ...flat.map(Math.abs)), 14);
  const w = 320, h = 220, low = one.bars ? -.5 : one.at[0], high = one.bars ? one.at.length - .5 : one.at[one.at.length - 1];
  const spots = one.bars ? one.at.map((_, i) => i) : one.at;
  const most = Math.max(Math.floor(37 / spots.length) - 1, 5), brief = one.bars ? one.labels.map(name => name.length > most ? name.slice(0, most - 1) + "…" : name) : [];
  const every = Math.ceil(spots.length * (Math.max(...brief.map(name => name.length)) + 1) / 37);
  const names = one.bars ? spots.filter((_, i) => i % every === 0).map(i => [i, brief[i]]) :
    one.kind === "moments" ? moments(low, high) : null;
  const f = frame({label: `What the values of ${one.name} say, in nats`, x: [low, high > low ? high : low + 1], y: [-bound * 1.55, bound], w, h, xTicks: names || ticks(low, high, 4), yTicks: ticks(-bound, bound, 4)});
  const tallest = Math.max(...beneath.flat(), 1e-300), room = bound * .5, floor = -bound * 1.55, up = value => floor + room * value / tallest;
  const rect = (x1, x2, y1, y2, fill, faint) => svg("rect", {x: Math.min(f.sx(x1), f.sx(x2)), width: Math.max(Math.abs(f.sx(x2) - f.sx(x1)), .5), y: Math.min(f.sy(y1), f.sy(y2)), height: Math.max(Math.abs(f.sy(y2) - f.sy(y1)), .3), fill, class: faint ? "faint" : null});
  beneath.forEach((row, i) => row.forEach((value, b) => {
    if (!value) return;
    const step = .8 / beneath.length, from = one.bars ? b - .4 + i * step : Math.max(one.edges[b], low), to = one.bars ? b - .4 + (i + 1) * step : Math.min(one.edges[b + 1], high);
    if (to > from) f.root.append(rect(from, to, floor, up(value), tint(i), true));
  }));
  f.root.append(svg("line", {class: "zero", x1: f.sx(low), x2: f.sx(high > low ? high : low + 1), y1: f.sy(0), y2: f.sy(0)}));
  const clip = value => sure(value) ? Math.min(Math.max(value, -bound), bound) : null;
  lines.forEach((line, i) => {
    if (one.bars) line.forEach((value, b) => {
      const step = .8 / lines.length, fill = tint(two ? (value > 0 ? 1 : 0) : i);
      if (sure(value)) f.root.append(rect(b - .4 + i * step, b - .4 + (i + 1) * step, 0, clip(value), fill, false));
    });
    else f.root.append(svg("path", {class: "curve", stroke: two ? "var(--ink)" : tint(i), "stroke-dasharray": two ? "" : dash(i), d: path(spots.map((x, b) => [x, clip(line[b])]), f.sx, f.sy)}));
  });
  const values = one.bars ? one.labels : one.kind === "moments" ? one.at.map(t => iso(t, 10)) : one.at.map(short);
  const few = values.map((_, i) => i).filter(i => one.bars || i % Math.max(1, Math.floor(values.length / 12)) === 0);
  const heads = two ? [`for ${classes[1]}`] : data.pictures.lines;
  return el("figure", {class: "card"}, el("figcaption", null, bdi(one.name), one.levels > one.at.length ? el("small", null, ` top ${one.at.length} of ${one.levels} levels`) : null), f.root,
    behind(table("Nats at some values", ["value", ...heads.map(bdi)], few.map(i => [bdi(values[i]), ...lines.map(line => signed(line[i]))]))));
}

function words() {
  if (!data.words) { at("words").hidden = true; return; }
  const most = Math.max(...data.words.flatMap(one => one.words.map(word => word[1] || 0)), 1e-9);
  at("words").append(...heading("Words", `The words that speak most for ${data.words.length < K ? `${count(data.words.length)} of the ${count(K)} classes` : "each class"} against the others, in nats for each time they occur.`),
    el("div", {class: "words"}, data.words.map(one => el("div", {class: "card"}, el("h3", null, bdi(classes[one.class])),
      el("table", null, el("tbody", null, one.words.map(([word, nats]) => el("tr", null, el("th", {scope: "row"}, bdi(word)), el("td", {class: "bar"}, meter(sure(nats) ? nats / most : 1, "var(--accent)")), el("td", null, signed(nats))))))))));
}

const WHY = {all: "All", surprising: "Most surprising", unsure: "Least sure", novel: "Most novel"};
function rows() {
  if (!data.notable) {
    at("rows").append(...heading("Rows", "This page was written without single rows."));
    return;
  }
  if (!data.notable.length) { at("rows").hidden = true; return; }
  let chosen = [];
  const step = {ArrowDown: i => i + 1, ArrowUp: i => i - 1, Home: () => 0, End: () => chosen.length - 1};
  const list = el("ul", {class: "list", "aria-label": "Rows; the arrow keys choose one", onkeydown: event => {
    if (!Object.hasOwn(step, event.key)) return;
    event.preventDefault();
    state.row = chosen[Math.min(Math.max(step[event.key](chosen.indexOf(state.row)), 0), chosen.length - 1)];
    draw(); remember();
  }}), detail = el("div", {class: "card", "aria-live": "polite"});
  const kinds = ["all", ...["surprising", "unsure", "novel"].filter(kind => data.notable.some(one => kind in one.why))];
  const tabs = kinds.map(kind => el("button", {type: "button", onclick: () => { state.why = kind; draw(); remember(); }}, WHY[kind]));
  const name = one => typeof one.truth === "number" ? classes[one.truth] : one.truth;
  function draw() {
    tabs.forEach((tab, i) => tab.setAttribute("aria-pressed", kinds[i] === state.why));
    const first = one => Math.min(...Object.values(one.why)), listed = data.notable.map((one, i) => [one, i]).filter(([one]) => state.why === "all" || state.why in one.why);
    listed.sort(([a], [b]) => state.why === "all" ? first(a) - first(b) : a.why[state.why] - b.why[state.why]);
    const held = list.contains(document.activeElement), place = list.scrollTop;
    chosen = listed.map(([, i]) => i);
    const reached = chosen.includes(state.row) ? state.row : chosen[0]; // one stop of the tab key; arrows go on from there
    list.replaceChildren(...listed.map(([one, i]) =>
      el("li", null, el("button", {type: "button", "aria-pressed": i === state.row, tabindex: i === reached ? 0 : -1, onclick: () => { state.row = i; draw(); remember(); }},
        `row ${count(one.row)}: `, bdi(name(one)), el("small", null, "said ", bdi(classes[one.for]), ` with ${percent(one.p[0][1])}`, one.novelty !== undefined && sure(one.novelty) ? `, tail probability ${short(one.novelty)}` : "")))));
    list.scrollTop = place;
    if (held) {
      list.querySelector("[tabindex='0']").focus({preventScroll: true});
      document.activeElement.scrollIntoView({block: "nearest"});
    }
    const one = data.notable[state.row] || data.notable[0];
    detail.replaceChildren(el("h3", null, `Row ${count(one.row)}: truth `, bdi(name(one))), el("p", {class: "note"}, Object.keys(one.why).map(kind => WHY[kind].toLowerCase()).join(", "), "; posterior ",
      one.p.map(([k, p], i) => [i ? ", " : "", bdi(classes[k]), " " + percent(p)])),
    ...(one.text ? [shaded(one)] : []), ...(one.said ? [el("div", {class: "scroll"}, waterfall(one, one.for, one.against))] : [el("p", {class: "note"}, "This model does not explain its answers.")]),
    ...(data.form.rows && data.form.rows[state.row] ? [el("div", {class: "buttons"}, el("button", {type: "button", onclick: () => { fillForm(data.form.rows[state.row]); jump("whatif"); }}, "try this row in what if"))] : []));
  }
  live.drawRows = draw;
  at("rows").append(...heading("Rows", `The ${plural(data.notable.length, "row")} most worth looking at: least expected truth and lowest largest posterior among all rows${kinds.includes("novel") ? `, and least likely under the model among ${isWhole ? "them" : "the sample"}` : ""}. The first row is row 0.`),
    el("div", {class: "pick", role: "group", "aria-label": "Which rows"}, tabs), el("div", {class: "rows"}, list, detail));
  draw();
}
function shaded(one) {
  const most = Math.max(...one.text.map(piece => Math.abs(piece[1] || 0)), 1e-9);
  return sides(el("p", {class: "document", dir: "auto"}, one.text.map(([text, nats]) => {
    if (!sure(nats)) return text;
    const span = el("span", {title: `${signed(nats)} nats`}, text);
    span.style.background = `color-mix(in srgb, var(${nats > 0 ? "--for" : "--against"}) ${Math.round(65 * Math.abs(nats) / most)}%, transparent)`;
    return span;
  }), one.cut ? " …" : ""), one.for, one.against);
}

let fillForm = () => {};
function whatIf() {
  const section = at("whatif"), form = data.form;
  if (!model || !form.fields) {
    section.append(...heading("What if", `There is no form to try rows of one's own here: ${form.reason}.`));
    return;
  }
  const inputs = form.fields.map((field, i) => {
    const id = `field-${i}`, set = value => { if (value === null) delete state.cells[i]; else state.cells[i] = value; later.whatif(); remember(); };
    let input;
    if (field.levels && field.levels.length <= 60) {
      input = el("select", {id, onchange: () => set(input.value === "missing" ? null : input.value === "other" ? (field.kind === "level" ? "\u0000" : 1e308) : field.levels[+input.value])},
        el("option", {value: "missing"}, "missing"), field.levels.map((level, j) => el("option", {value: j}, field.kind === "boolean" ? (level ? "true" : "false") : plain(level))), el("option", {value: "other"}, "another value"));
    } else if (field.kind === "document") {
      input = el("textarea", {id, rows: 12, placeholder: "missing", dir: "auto", oninput: () => set(input.value)});
    } else if (field.kind === "boolean") {
      input = el("select", {id, onchange: () => set(input.value === "" ? null : +input.value)}, el("option", {value: ""}, "missing"), el("option", {value: 1}, "true"), el("option", {value: 0}, "false"));
    } else if (field.kind === "moment") {
      input = el("input", {id, type: "datetime-local", step: "any", onchange: () => set(input.value ? Date.parse(input.value + "Z") / 1000 : null)});
    } else {
      const numbers = field.kind !== "level";
      input = el("input", {id, type: numbers ? "number" : "text", step: "any", placeholder: "missing", list: numbers ? null : `${id}-levels`, title: field.range ? `from ${short(field.range[0])} to ${short(field.range[2])} in these rows` : null,
        oninput: () => set(input.value === "" ? null : numbers ? (Number.isFinite(+input.value) ? +input.value : null) : input.value)});
    }
    const many = field.levels && field.levels.length > 60 ? el("datalist", {id: `${id}-levels`}, field.levels.map(level => el("option", {value: String(level)}))) : null;
    const show = value => {
      input.classList.toggle("gap", value === undefined);
      if (document.activeElement === input) return;
      if (input.nodeName === "SELECT" && field.levels) input.value = value === undefined ? "missing" : field.levels.indexOf(value) >= 0 ? field.levels.indexOf(value) : "other";
      else if (field.kind === "moment") input.value = value === undefined ? "" : iso(value, 19);
      else input.value = value === undefined ? "" : value;
    };
    return {show, name: field.name.toLowerCase(), node: el("div", {class: field.kind === "document" ? "whole" : null}, el("label", {for: id, title: field.name}, bdi(field.name), ["duration", "clock"].includes(field.kind) ? " (seconds)" : ""), input, many)};
  });
  fillForm = cells => { state.cells = filled(cells); later.whatif(); remember(); };
  const typed = () => { const x = []; form.fields.forEach((field, i) => { x[field.at] = state.cells[i] === undefined ? null : state.cells[i]; }); return x; };
  const answer = el("div", {class: "card stack", "aria-live": "polite"}), nameOf = Object.fromEntries(form.fields.map((field, i) => [field.at, i]));
  const told = value => value === undefined ? "missing" : value === "\u0000" || value === 1e308 ? "another value" : typeof value === "number" ? short(value) : plain(value);
  later.whatif = () => {
    inputs.forEach((input, i) => input.show(state.cells[i]));
    const {posterior, parts, said: words, rest: unsaid} = model(typed()), order = posterior.map((_, k) => k).sort((a, b) => posterior[b] - posterior[a]);
    if (posterior.some(Number.isNaN)) {
      answer.replaceChildren(el("p", null, "With these gaps the row has no score here: fill in the columns that the model reads together."));
      return;
    }
    const moved = state.priors && state.model === 0 && !data.models[0].ignoresPriors;
    const shift = shifts(0, state.priors), other = posterior.map((p, k) => p * Math.exp(shift[k])), z = other.reduce((a, b) => a + b, 0);
    const lines = order.slice(0, 8).map(k => [bdi(classes[k]), el("td", {class: "bar"}, meter(posterior[k], colour(k))), el("td", {class: "own", "data-posterior": k}, posterior[k].toFixed(4)), ...(moved ? [(other[k] / z).toFixed(4)] : [])]);
    const nodes = [table("Posterior", ["", "", "p", ...(moved ? ["with the priors above"] : [])], lines, "posterior")];
    if (K > 1) {
      const [a, b] = order, gains = parts.map((part, i) => [form.parts[i], part[a] - part[b]]), cells = gains.filter(([of]) => of.length);
      const label = of => of.length > 2 ? `${form.fields[nameOf[of[0]]].name}, … (${of.length} together)` : of.map(j => form.fields[nameOf[j]].name).join(" and ");
      const spoken = words ? [...words.map(([word, times, gain]) => [plain(word), times > 1 ? `× ${times}` : "", gain[a] - gain[b]]), ["(absent and unknown words)", "", unsaid[a] - unsaid[b]]] :
        cells.map(([of, gain]) => [label(of), of.length === 1 ? told(state.cells[nameOf[of[0]]]) : "", gain]);
      const said = spoken.filter(one => one[2] !== 0).sort((x, y) => Math.abs(y[2]) - Math.abs(x[2]));
      const rest = said.slice(12).reduce((sum, one) => sum + one[2], 0);
      nodes.push(el("div", {class: "scroll"}, waterfall({start: [form.start, gains.filter(([of]) => !of.length).reduce((sum, one) => sum + one[1], 0)], said: said.slice(0, 12), rest: [Math.max(said.length - 12, 0), rest], unit: "nats"}, a, b)));
    }
    answer.replaceChildren(...nodes);
  };
  const rows = (form.rows || []).filter(row => row), isDocument = form.fields.some(field => field.kind === "document");
  const start = rows.length ? el("button", {type: "button", onclick: () => fillForm(rows[Math.floor(Math.random() * rows.length)])}, "a row from the list") : null;
  const typical = isDocument ? null : el("button", {type: "button", onclick: () => fillForm(form.fields.map(field => field.range ? field.range[1] : field.levels ? field.levels[0] : null))}, "typical values");
  section.append(...heading("What if", isDocument ? "Type a document and see what the model says, scored here by the model's own words." :
    "Type a row and see what the model says, scored here by the model's own expressions. A field that is left empty is missing.", form.needsAll ? " Columns that the model reads together must all be filled in." : "", form.parts.some(of => of.length > 1) ? " What several columns say only together is a line of its own." : ""),
  el("div", {class: "two beside"}, el("div", {class: "card"}, inputs.length > MANY_FIELDS ? finder(inputs) : null, el("div", {class: "fields"}, inputs.map(input => input.node)), el("div", {class: "buttons"}, start, typical,
    el("button", {type: "button", onclick: () => fillForm([])}, isDocument ? "missing" : "all missing"))), answer));
}
function finder(inputs) { // of many columns a few are shown at a time
  const shown = el("span", {class: "note", "aria-live": "polite"});
  const find = () => {
    const wanted = box.value.trim().toLowerCase(), found = inputs.filter(input => input.name.includes(wanted)), first = new Set(found.slice(0, MANY_FIELDS));
    inputs.forEach(input => { input.node.hidden = !first.has(input); });
    shown.textContent = found.length > first.size ? `${count(first.size)} of ${count(found.length)} columns; type part of a name to find others` : plural(found.length, "column");
  };
  const box = el("input", {type: "search", id: "find-column", placeholder: "part of a name", oninput: find});
  find();
  return el("div", {class: "find"}, el("label", {for: "find-column"}, "Find a column"), box, shown);
}

// ---- state in the address ---------------------------------------------------------------------------------
function remember() {
  const first = begin(), kept = new URLSearchParams();
  if (state.priors) kept.set("priors", state.priors.map(p => +p.toPrecision(6)).join(","));
  if (JSON.stringify(state.costs) !== JSON.stringify(first.costs)) kept.set("costs", state.costs.flat().join(","));
  if (state.reject !== first.reject) kept.set("refuse", state.reject === null ? "never" : +state.reject.toPrecision(6));
  for (const name of ["model", "class", "row", "why"]) if (state[name] !== first[name]) kept.set(name, state[name]);
  if (JSON.stringify(state.cells) !== JSON.stringify(first.cells)) kept.set("cells", JSON.stringify(state.cells));
  const text = kept.toString();
  try { history.replaceState(null, "", text ? "#" + text : location.pathname + location.search); } catch { /* a frame without an address */ }
}
function recall() {
  const said = new URLSearchParams(location.hash.slice(1)), found = begin();
  const numbers = text => text.split(",").map(Number), whole = (name, most) => { const value = Number(said.get(name)); return Number.isInteger(value) && value >= 0 && value < most ? value : found[name]; };
  if (said.has("priors")) { const p = numbers(said.get("priors")); if (p.length === K && p.every(one => one >= 0) && p.some(one => one > 0)) found.priors = normalised(p); }
  if (said.has("costs")) { const c = numbers(said.get("costs")); if (c.length === K * K && c.every(Number.isFinite)) found.costs = found.costs.map((_, k) => c.slice(k * K, k * K + K)); }
  if (said.has("refuse")) { const r = said.get("refuse"); found.reject = r === "never" || !Number.isFinite(+r) ? null : +r; }
  if (said.has("model")) found.model = whole("model", data.models.length);
  if (said.has("class")) found.class = whole("class", K);
  if (said.has("row")) found.row = whole("row", (data.notable || []).length);
  if (Object.hasOwn(WHY, said.get("why"))) found.why = said.get("why");
  try {
    const cells = Object.entries(JSON.parse(said.get("cells") || "null") || {});
    if (said.has("cells")) found.cells = {};
    for (const [i, value] of cells) {
      if (data.form.fields && data.form.fields[i] && (typeof value === "number" || typeof value === "string")) found.cells[i] = value;
    }
  } catch { /* not ours */ }
  state = found;
}
function jump(id) {
  at(id).scrollIntoView({block: "start"});
  const head = at(id).querySelector("h2");
  if (head) { head.tabIndex = -1; head.focus({preventScroll: true}); }
}

// ---- the page ---------------------------------------------------------------------------------------------
recall();
at("kicker").append("suffice report");
at("lead").append(`${/^[AEIOU]/.test(data.kind) ? "An" : "A"} ${data.kind} ${data.trained === null ? "" : `fitted to ${plural(data.trained, "row")}, `}asked about ${plural(data.rows.all, "row")} of ${plural(labels.length, "class", "classes")}.`);
if (data.models.length > 1) {
  at("lead").append(" Compared with ", data.models.slice(1).map((one, i) => (i ? ", " : "") + one.name).join(""), "; columns, rows and the form are those of ", bdi(data.models[0].name), ".");
}
summary(); decide(); probabilities(); columns(); words(); rows(); whatIf();
const holds = data.notable === null ? "no row with its cells or its number" : `the cells of the ${plural(data.notable.length, "row")} listed above`;
at("footer").append(el("p", null, `Written by suffice ${data.version}. This file holds the scores and classes of ${sampled()}, in random order; ${holds}; ${data.words ? "words" : "names, ranges and histograms of the columns"}; and the parameters of the model. It loads nothing and sends nothing.`));
for (const section of document.querySelectorAll("main > section:not([hidden])")) {
  at("nav").append(el("a", {href: `#${section.id}`, onclick: event => { event.preventDefault(); jump(section.id); }}, section.dataset.title));
}
update(); rest();
window.addEventListener("hashchange", () => { recall(); if (live.drawRows) live.drawRows(); update(); });
window.addEventListener("beforeprint", rest);
window.suffice = {
  data, settings: () => state, results: (part, m) => results(m || 0, {...begin(), ...part}), curves: (p, k) => ({...curves(p, k), bins: reliability(p, k)}),
  posterior: cells => model(cells).posterior, change: part => { state = {...state, ...part}; update(); rest(); },
};
})();
