// What look.py asks of a page: what is cut off, what is hard to read, and what has the focus.

const shownTexts = function* (root) {
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let text; (text = texts.nextNode()); ) {
    const one = text.parentElement;
    if (!text.data.trim() || one.closest("script, style, noscript")) continue;
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    const style = getComputedStyle(one);
    if (box.width && box.height && style.visibility === "visible") yield { one, box, style, words: text.data.trim() };
  }
};

window.cutOff = () => {
  const root = document.documentElement;
  const found = new Set();
  if (root.scrollWidth > root.clientWidth) found.add(`the page is ${root.scrollWidth} wide, not ${root.clientWidth}`);
  const isCut = (inside, box) => {
    for (let above = inside; above !== root; above = above.parentElement) {
      const style = getComputedStyle(above);
      const around = above.getBoundingClientRect();
      if (style.position === "fixed") return false; // a drawer
      const low = box.top < around.top - 1 || box.bottom > around.bottom + 1;
      if (style.overflowY === "hidden" && above !== document.body && low) return true;
      if (style.overflowX === "auto" || style.overflowX === "scroll") return false;
      const wide = box.left < around.left - 1 || box.right > around.right + 1;
      if (style.overflowX !== "visible" && wide) return true;
    }
    return box.left < -1 || box.right > root.clientWidth + 1;
  };
  for (const one of document.querySelectorAll("math, img")) {
    if (isCut(one.parentElement, one.getBoundingClientRect())) found.add(`cut off: ${one.alt ?? one.textContent}`);
  }
  for (const { one, box, words } of shownTexts(document.body)) {
    if (!one.closest("math, .skip-to-content") && isCut(one, box)) found.add(`cut off: ${words.slice(0, 60)}`);
  }
  return [...found];
};

window.tooFaint = () => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const parsed = (colour) => {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const luminance = (colour) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
      const part = colour[i] / 255;
      return sum + weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    }, 0);
  const backgrounds = new Map([[null, parsed("white")]]);
  const background = (one) => {
    if (!backgrounds.has(one)) {
      const colour = parsed(getComputedStyle(one).backgroundColor);
      backgrounds.set(one, colour[3] === 1 ? colour : over(colour, background(one.parentElement)));
    }
    return backgrounds.get(one);
  };
  const found = new Map();
  const check = (one, style, words) => {
    let opacity = 1;
    for (let above = one; above; above = above.parentElement) opacity *= getComputedStyle(above).opacity;
    if (!opacity) return;
    const under = background(one);
    const [r, g, b, a] = parsed(style.color);
    const both = [luminance(over([r, g, b, a * opacity], under)), luminance(under)];
    const ratio = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const what = `contrast ${ratio.toFixed(2)} of ${style.color} on ${under.slice(0, 3).map(Math.round)}`;
    if (ratio < (large ? 3 : 4.5)) found.set(what, `${what}: ${words.slice(0, 40)}`);
  };
  for (const { one, style, words } of shownTexts(document.body)) check(one, style, words);
  for (const one of document.querySelectorAll("[placeholder]")) {
    check(one, getComputedStyle(one, "::placeholder"), one.placeholder);
  }
  return [...found.values()];
};

const named = (number) => document.querySelector(`[data-number="${number}"]`).outerHTML.slice(0, 100);

window.reachable = () =>
  [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")]
    .filter((one, i) => {
      one.dataset.number = i;
      return one.getClientRects().length && getComputedStyle(one).visibility === "visible";
    })
    .map((one) => one.dataset.number);

window.focused = () => {
  const one = document.activeElement;
  const number = one.dataset.number;
  if (number === undefined) return null;
  const labels = [...(one.labels ?? [])].filter((label) => label.closest(".page") && label.getClientRects().length);
  const shown = labels[0] ?? one; // the switch of a drawer is drawn by its label
  const style = getComputedStyle(shown);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  const inView = [...shown.getClientRects()].some((box) =>
    [0.05, 0.5, 0.95].some((share) => {
      const top = document.elementFromPoint(box.left + share * box.width, (box.top + box.bottom) / 2);
      return top && (shown.contains(top) || top.contains(shown));
    }),
  );
  const why = !outlined ? "shows no focus" : !Number(style.opacity) ? "is transparent" : inView ? "" : "is out of view";
  return { number, problem: why && `${why} when it has the focus: ${named(number)}` };
};

window.missed = (numbers) => numbers.map((number) => `the Tab key does not reach ${named(number)}`);
