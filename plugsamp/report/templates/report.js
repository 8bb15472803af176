(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const place = "plugsamp topic names " + data.model;
  const LONGEST = 80, SHOWN = 25, WORDS = 10, BARS = 15, NARROW = 720, MATCHES = 20;

  const $ = (selector, inside = document) => inside.querySelector(selector);
  const $$ = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const make = (name, properties, ...inside) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...inside);
    return element;
  };

  // Names: those of the page, and over them what was written here before.
  const stored = () => {
    try {
      const found = JSON.parse(localStorage.getItem(place) || "{}");
      return found && typeof found === "object" ? found : {};
    } catch { return {}; }
  };
  const plain = (text) => {
    const line = String(text).replace(/\s+/g, " ").replace(/[\p{Cc}\p{Cs}]/gu, "").trim();
    return [...line].slice(0, LONGEST).join("").trim();  // characters, and no halves of them
  };
  const written = stored();
  const nameOf = (topic) => plain(Object.hasOwn(written, topic) ? written[topic] : data.names[topic] || "");
  const numberOf = (key) => key.split(".").pop();
  const show = () => {
    for (const span of $$(".tn")) {
      if (!$("input", span)) span.textContent = nameOf(span.dataset.t);
    }
  };
  const keep = () => {
    try { localStorage.setItem(place, JSON.stringify(written)); } catch { say("This browser keeps no names: download them."); }
    show();
  };
  const named = (span) => {
    const topic = span.dataset.t;
    const button = make("button", { type: "button", className: "rename", textContent: "name" });
    button.setAttribute("aria-label", `Name topic ${topic}`);
    span.after(" ", button);
    button.addEventListener("click", () => {
      const input = make("input", { value: nameOf(topic), maxLength: LONGEST });
      input.setAttribute("aria-label", `Name of topic ${topic}`);
      let open = true;
      const close = (save) => {
        if (!open) return;
        open = false;
        if (save) written[topic] = plain(input.value);
        input.remove();
        button.hidden = false;
        if (save) keep(); else show();
      };
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === "Escape") { close(event.key === "Enter"); button.focus(); }
      });
      input.addEventListener("blur", () => close(true));
      span.textContent = "";
      span.append(input);
      button.hidden = true;
      input.select();
      input.focus();
    });
  };

  // Words of a topic, [word, probability], in the ranking that is chosen.
  let lambda = 0.6, frex = false;
  const wordsOf = (key, n) => {
    const row = data.rows[key];
    const pairs = row.w.map((w, i) => ({ w, f: row.f[i] }));
    if (frex) {
      const by = new Map(pairs.map((pair) => [pair.w, pair]));
      return row.x.slice(0, n).map((w) => by.get(w));
    }
    const score = ({ w, f }) => Math.log(f) - (1 - lambda) * Math.log(data.p[w]);
    return pairs.sort((a, b) => score(b) - score(a)).slice(0, n);
  };
  const percent = (x) => `${(100 * x).toFixed(x < 0.1 ? 1 : 0)} %`;
  const number = (x) => (x > 0 ? "+" : "") + Number(x.toPrecision(3)).toString().replace("-", "−");
  const wordBars = (key) => {
    const words = wordsOf(key, BARS), share = data.rows[key].h;
    const largest = Math.max(...words.map(({ f }) => f), 1e-12);
    const body = make("tbody", {}, ...words.map(({ w, f }) => {
      const bar = make("i", {});
      bar.style.width = `${(100 * f / largest).toFixed(1)}%`;
      const head = make("th", { scope: "row" }, make("bdi", { textContent: data.words[w] }));
      const own = share === null ? [] : [make("td", { className: "n", textContent: percent(Math.min(share * f / data.p[w], 1)) })];
      return make("tr", {}, head, make("td", { className: "n", textContent: percent(f) }), make("td", { className: "length" }, bar), ...own);
    }));
    const what = `Words: their probability in the topic${share === null ? "" : ", and the part of them that is this topic's"}`;
    return make("table", { className: "wordbars" }, make("caption", { textContent: what }), body);
  };
  const linkTo = (key) => {
    const link = make("a", { href: `#t${key}`, className: "topic" }, make("b", { textContent: numberOf(key) }), " ");
    const name = make("span", { className: "tn", textContent: nameOf(key), dir: "auto" });
    name.dataset.t = key;
    link.append(name);
    const first = wordsOf(key, 3).map(({ w }) => data.words[w]).join(" ");
    return [link, make("span", { className: "hint", dir: "auto", textContent: ` ${first}` })];
  };
  const part = (title, ...inside) => make("div", {}, make("h3", { textContent: title }), ...inside);
  const list = (items) => make("ul", { className: "fine" }, ...items.map((item) => make("li", {}, ...item)));
  const sides = (key) => {
    const row = data.rows[key];
    if (!row.s.length) return [];
    const side = (mean) => make("span", { className: mean > 0 ? "pos" : "neg", textContent: number(mean) });
    return [part("What it speaks for, and against", list(row.s.map(([output, mean, low, high]) => [
      make("bdi", { textContent: output }), " ", side(mean), ` (${number(low)} to ${number(high)})${low < 0 && high > 0 ? ", may be 0" : ""}`,
    ])))];
  };
  const rank = (tbody, label) => {
    const values = bodies.map((one) => Number($(`[data-label="${label}"]`, one)?.dataset.v || NaN)).filter((v) => !Number.isNaN(v));
    const own = $(`[data-label="${label}"]`, tbody)?.dataset.v;
    return own ? [`${label}: ${values.filter((v) => v > Number(own)).length + 1} of ${values.length}`] : null;
  };
  const standing = (key) => {
    const found = ["Share", "Coherence"].map((label) => rank(body(key), label)).filter(Boolean);
    return found.length ? [part("Where it stands, from the largest", list(found))] : [];
  };
  const near = (key) => {
    const row = data.rows[key];
    if (!row.n) return [];
    return [part("Topics with alike words", list(row.n.map(([other, distance]) => [...linkTo(other), ` ${distance.toFixed(2)}`])),
      make("p", { className: "fine", textContent: "Distance: 0 the same words, 1 none in common." }))];
  };
  const documents = (key) => {
    const row = data.rows[key];
    if (!row.d || !row.d.length) return [];
    return [part("Documents that have most of it", list(row.d.map(([id, share, response, words]) => [
      make("span", { className: "id", textContent: id, dir: "auto" }), ` ${percent(share)}`, ...(response ? [" · ", make("bdi", { textContent: response })] : []),
      ": ", make("span", { textContent: words, dir: "auto" }),
    ])))];
  };

  // Rows of topics that open.
  const body = (key) => document.getElementById(`t${key}`);
  const bodies = $$("table.topics > tbody");
  const keyOf = (tbody) => tbody.id.slice(1);
  const fill = (tbody) => {
    const key = keyOf(tbody), cell = $(".detail td", tbody);
    cell.replaceChildren(make("div", { className: "opened" }, make("div", {}, wordBars(key)), make("div", {}, ...documents(key)), make("div", {}, ...sides(key), ...standing(key), ...near(key))));
  };
  const open = (key, way) => {
    const tbody = body(key);
    if (!tbody) return;
    const button = $(".open", tbody), there = tbody.rows[1];
    const wanted = way ?? !there;
    button.setAttribute("aria-expanded", wanted);
    if (!wanted) { there?.remove(); return; }
    if (there) return;
    const cell = make("td", { colSpan: tbody.rows[0].cells.length });
    tbody.append(make("tr", { className: "detail" }, cell));
    fill(tbody);
  };
  for (const tbody of bodies) {
    const key = keyOf(tbody), bold = $("th b", tbody);
    const button = make("button", { type: "button", className: "open", textContent: bold.textContent });
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", `Topic ${bold.textContent}: words, documents, neighbours`);
    bold.replaceWith(button);
    button.addEventListener("click", () => open(key));
    named($(".tn.own", tbody));
  }

  // All rows, or the first of them; what is asked for is always shown.
  let all = bodies.length <= SHOWN + 5;
  const moreRows = $(".more-rows");
  const cut = () => {
    const order = $$("table.topics > tbody");
    const filtering = Boolean($(".tools[data-for=topics] input[type=search]")?.value.trim());
    order.forEach((tbody, i) => {
      const later = !all && !filtering && i >= SHOWN && !tbody.classList.contains("asked");
      tbody.classList.toggle("later", later);
      tbody.hidden = later || tbody.classList.contains("filtered");
    });
    moreRows.hidden = all || filtering;
  };
  const button = make("button", { type: "button", textContent: `Show all ${bodies.length} topics` });
  button.addEventListener("click", () => { all = true; cut(); });
  moreRows.append(button);

  // Links to places on the page work in a notebook's frame too, and open what is folded.
  const go = (id) => {
    const target = document.getElementById(id);
    if (!target) return;
    for (let up = target; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    if (target.matches("section")) { const fold = $("details", target); if (fold) fold.open = true; }
    if (target.matches("table.topics > tbody")) {
      for (const other of bodies) other.classList.toggle("at", other === target);
      target.classList.add("asked");
      target.classList.remove("filtered");
      cut();
      open(keyOf(target), true);
      $(".open", target).focus({ preventScroll: true });
    }
    target.scrollIntoView();
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const item = link.closest(".listed li");
    if (item && !item.classList.contains("at")) { choose(item.dataset.t); return; }
    go(link.getAttribute("href").slice(1));
  });

  // Sorting: rows by what a cell says of itself in data-v, or by its text; what is unknown comes last.
  const valueOf = (row, column, kind) => {
    const cell = row.cells[column];
    const text = cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim();
    if (kind === "text") return text.toLowerCase();
    return text === "" || Number.isNaN(Number(text)) ? null : Number(text);
  };
  const sort = (table, column, kind, up) => {
    const several = table.matches(".topics");
    const units = several ? $$(":scope > tbody", table) : [...table.tBodies[0].rows];
    const rows = units.map((unit) => [valueOf(several ? unit.rows[0] : unit, column, kind), unit]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return (a < b ? -1 : a > b ? 1 : 0) * (up ? 1 : -1);
    });
    (several ? table : table.tBodies[0]).append(...rows.map(([, unit]) => unit));
    [...table.tHead.rows[0].cells].forEach((th, i) => {
      if (i === column) th.setAttribute("aria-sort", up ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    });
    if (several) cut();
  };
  const sortable = (table) => [...table.tHead.rows[0].cells]
    .map((th, column) => ({ th, column, kind: th.dataset.sort, title: th.textContent }))
    .filter(({ kind }) => kind);
  for (const table of $$("table[data-sortable]")) {
    for (const { th, column, kind } of sortable(table)) {
      const head = make("button", { type: "button" }, ...th.childNodes);
      th.append(head);
      head.addEventListener("click", () => {
        const before = th.getAttribute("aria-sort");
        sort(table, column, kind, before ? before === "descending" : kind === "text" || th.dataset.first === "up");
      });
    }
  }

  // Filtering: rows that hold all words asked for, of topics in what is shown of them unopened.
  const filterField = (units, what, textOf, after) => {
    const output = make("output", {});
    const input = make("input", { type: "search" });
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let seen = 0;
      for (const unit of units) {
        const text = textOf(unit).toLowerCase();
        const out = !wanted.every((word) => text.includes(word));
        unit.classList.toggle("filtered", out);
        unit.hidden = out;
        seen += !out;
      }
      output.textContent = wanted.length ? `${seen} of ${units.length}` : "";
      after?.();
    });
    return [make("label", {}, what, input), output];
  };
  for (const table of $$("table[data-filterable]")) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length > 12) {
      table.closest(".scroll").before(make("div", { className: "tools" }, ...filterField(rows, "Filter", (row) => row.textContent)));
    }
  }

  // The tools of the topics.
  const message = make("output", {});
  const say = (text) => { message.textContent = text; };
  const tools = $(".tools[data-for=topics]");
  const table = $("table.topics");
  const rerank = () => {
    for (const tbody of bodies) {
      const key = keyOf(tbody);
      $(".ws", tbody).textContent = wordsOf(key, WORDS).map(({ w }) => data.words[w]).join(" ");
      if (tbody.rows[1]) fill(tbody);
    }
    if (chosen) tell(chosen);
    $("input[type=search]", tools).dispatchEvent(new Event("input"));
  };
  const slider = make("input", { type: "range", min: 0, max: 1, step: 0.05, value: lambda });
  const value = make("output", { textContent: lambda.toFixed(2) });
  const ranking = make("select", {}, ...["relevance", "probability", "FREX"].map((by) => make("option", { value: by.toLowerCase(), textContent: by })));
  const start = table.dataset.by || "relevance";
  const rankBy = (by) => {
    frex = by === "frex";
    slider.disabled = frex;
    if (by === "probability") lambda = 1; else if (by === "relevance" && lambda === 1) lambda = 0.6;
    slider.value = lambda;
    value.textContent = frex ? "–" : lambda.toFixed(2);
    ranking.value = by;
  };
  ranking.addEventListener("change", () => { rankBy(ranking.value); rerank(); });
  slider.addEventListener("input", () => {
    lambda = Number(slider.value);
    frex = false;
    value.textContent = lambda.toFixed(2);
    ranking.value = lambda === 1 ? "probability" : "relevance";
    rerank();
  });
  const order = make("select", {}, ...sortable(table).flatMap(({ column, title }) => [
    make("option", { value: `${column} down`, textContent: `${title}, largest first` }),
    make("option", { value: `${column} up`, textContent: `${title}, smallest first` }),
  ]));
  order.value = `${(sortable(table).find(({ title }) => title === "Share") || sortable(table)[0]).column} down`;
  order.addEventListener("change", () => {
    const [column, way] = order.value.split(" ");
    sort(table, Number(column), sortable(table).find((one) => one.column === Number(column)).kind, way === "up");
  });
  const download = make("button", { type: "button", textContent: "Download names" });
  download.addEventListener("click", () => {
    const names = {};
    for (const t of data.topics) if (nameOf(t)) names[t] = nameOf(t);
    const text = JSON.stringify({ model: data.model, names }, null, 2) + "\n";
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: "topic_names.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  const file = make("input", { type: "file", accept: ".json", className: "out" });
  file.addEventListener("change", async () => {
    try {
      const found = JSON.parse(await file.files[0].text());
      if (!found || typeof found.names !== "object" || !found.names) throw new Error("it holds no names");
      if (found.model && !Object.hasOwn(data.prefixes, found.model)) throw new Error("its names are for another model");
      const known = new Set(data.topics);
      const topicOf = (t) => (found.model ? data.prefixes[found.model] : known.has(t) ? "" : data.unsaid) + t;
      const pairs = Object.entries(found.names).filter(([t, name]) => known.has(topicOf(t)) && typeof name === "string");
      for (const [topic, name] of pairs) written[topicOf(topic)] = plain(name);
      keep();
      say(`${pairs.length} names loaded`);
    } catch (error) { say(`The file cannot be taken: ${error.message}`); }
    file.value = "";
  });
  const filtered = (tbody) => $$("th .tn, .ws, .doubt, .speaks bdi", tbody.rows[0]).map((one) => one.textContent).join(" ") + ` ${numberOf(keyOf(tbody))}`;
  tools.append(
    ...filterField(bodies, "Filter", filtered, cut),
    make("label", {}, "Words by", ranking), make("label", {}, "λ", slider, value), make("label", {}, "Sort", order),
    download, make("label", { className: "file" }, "Load names", file), message,
  );
  tools.hidden = false;

  // The map: circle, list and words of one topic at a time.
  let chosen = null;
  const panel = $(".atlas .chosen");
  const tell = (key) => {
    const link = make("p", {}, ...linkTo(key)), table = wordBars(key);
    panel.replaceChildren(link, table, ...sides(key), ...near(key));
    wordsOf(key, BARS).forEach(({ w }, i) => {  // which circles have the word that is pointed at
      const weigh = (on) => { for (const g of $$(".map g")) {
        const row = data.rows[g.dataset.t], part = (row.h ?? 1) * (row.f[row.w.indexOf(w)] || 0) / data.p[w];
        $("circle", g).style.cssText = on ? `fill: var(--ink); fill-opacity: ${Math.min(0.03 + part, 1).toFixed(2)}` : "";
      } };
      const line = table.rows[i];
      line.tabIndex = 0;
      for (const [event, on] of [["mouseenter", true], ["focus", true], ["mouseleave", false], ["blur", false]]) line.addEventListener(event, () => weigh(on));
    });
  };
  const choose = (key) => {
    chosen = key;
    const alike = new Set((data.rows[key].n || []).map(([other]) => other));
    for (const one of $$(".map g, .listed li")) {
      one.classList.toggle("at", one.dataset.t === key);
      one.classList.toggle("near", alike.has(one.dataset.t));
    }
    tell(key);
  };
  if (panel) {
    for (const one of $$(".map g")) {
      for (const event of ["click", "mouseenter"]) one.addEventListener(event, () => {
        choose(one.dataset.t);
        const item = $(".listed li.at"), listed = item.parentElement;  // the page itself stays where it is
        listed.scrollTop = item.offsetTop - listed.clientHeight / 2;
      });
    }
    for (const item of $$(".listed li")) item.addEventListener("focusin", () => choose(item.dataset.t));
    choose($(".listed li").dataset.t);
  }

  // Documents: some in full, and many in short, which are compressed.
  const told = data.documents, lookup = $(".tools[data-for=documents]"), shelf = $(".documents");
  const added = (n) => make("span", { className: n > 0 ? "pos" : "neg", textContent: `${n > 0 ? "+" : ""}${(n / 1000).toFixed(3)}`.replace("-", "−") });
  const cell = (label, ...inside) => {
    const one = make("td", { className: "n" }, ...inside);
    one.dataset.label = label;
    return one;
  };
  const blockOf = (id, [model, outputs, totals, ...terms]) => {
    const sums = (values, wrap = (v) => v) => values.map((v, i) => cell(outputs[i], wrap(added(v))));
    const [first, second] = shelf.dataset.covariates === "true" ? ["Topic or covariate", "Share or value"] : ["Topic", "Share"];
    const rows = terms.map(([of, share, parts, ...words]) => {
      const head = make("th", { scope: "row" }, ...(typeof of === "string" ? [make("bdi", { textContent: of })] : linkTo(data.topics[of])));
      const own = make("td", { className: "words" });
      for (let i = 0; i < words.length; i += 2) own.append(make("span", { textContent: words[i] + (words[i + 1] > 1 ? ` ×${words[i + 1]}` : "") }), " ");
      return make("tr", {}, head, cell(second, typeof share === "number" ? `${(share / 10).toFixed(1)} %` : share), ...sums(parts), own);
    });
    const heads = [first, second, ...outputs, "Its words here"].map((textContent, i, all) =>
      make("th", { scope: "col", className: i && i < all.length - 1 ? "n" : "", dir: "auto", textContent }));
    const caption = (model ? `Model: ${model}. ` : "") + (totals.length ? "Share × weight, by topic" : "Shares of topics");
    const table = make("table", { className: "terms cards" }, make("caption", { textContent: caption, dir: "auto" }),
      make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
    if (totals.length) {
      const bold = (sum) => make("b", {}, sum);
      table.append(make("tfoot", {}, make("tr", {}, make("th", { scope: "row", textContent: "Sum" }), make("td", {}), ...sums(totals, bold), make("td", {}))));
    }
    const region = make("div", { className: "scroll", tabIndex: 0, role: "region" }, table);
    region.setAttribute("aria-label", `Terms of ${id}${model && `, ${model}`}`);
    return region;
  };
  const textOf = (pro, contra, isText, pieces) => {
    const numbers = shelf.dataset.numbers === "true";
    const head = make("p", { className: "fine" }, isText ? "Text" : "Its words, those that matter most first");
    const key = (shade, textContent) => make("span", { className: `key ${shade}`, textContent });
    if (pro) head.append(": ", key("p3", (numbers ? "raises " : "") + pro), " ", key("n3", numbers ? "lowers it" : contra === pro ? "against it" : contra));
    const text = make("p", { className: isText ? "text" : "text bag", dir: "auto" });
    for (const [textContent, shade] of pieces) {
      const way = shade && (shade[0] === "p" || contra !== pro ? "for" : "against");
      if (shade) text.append(make("mark", { className: shade, title: `speaks ${way} ${shade[0] === "p" ? pro : contra}`, textContent }));
      else text.append(isText ? textContent : make("span", { textContent }));
      if (!isText) text.append(" ");
    }
    return [head, text];
  };
  const cardOf = ([id, predicted, truth, right, known, unknown, note, blocks, sure, ...text], opened) => {
    const bold = (textContent) => make("b", { textContent, dir: "auto" });
    const mark = (textContent, more = "") => make("span", { className: "mark" + more, textContent });
    const summary = make("summary", {}, make("span", { className: "id", dir: "auto", textContent: id }));
    if (predicted) {
      const answer = make("span", {}, "predicted ", bold(predicted), sure === null ? "" : ` (${(sure / 10).toFixed(1)}\u00a0%)`);
      if (truth && right === 1) answer.append(" ", mark("✓ right")); else if (truth) answer.append(", true ", bold(truth));
      summary.append(" ", answer);
    }
    if (right === 0) summary.append(" ", mark("✗ wrong", " wrong"));
    const tokens = `${known.toLocaleString("en")} tokens known to the model${unknown ? `, ${unknown.toLocaleString("en")} not` : ""}.`;
    const prior = known ? "" : " It knows no word of the document, so the prior speaks: every topic has its prior share.";
    const foot = make("p", { className: "fine", textContent: `${tokens}${prior} ${note}` });
    const beside = make("div", { className: text.length ? "beside" : "" }, make("div", {}, ...blocks.map((block) => blockOf(id, block))));
    beside.append(make("div", {}, ...(text.length && text[3].length ? textOf(...text) : []), foot));
    return make("details", { className: "document", open: opened }, summary, beside);
  };
  const finder = (others) => {
    const rows = [...told.full, ...others], full = new Set(told.full), cards = $$("details.document", shelf);
    const line = ([id, predicted, truth, right]) => `${id} predicted ${predicted}, true ${truth} ${["", "wrong", "right"][right + 1]}`.toLowerCase();
    const lines = new Map(rows.map((row) => [row, line(row)]));
    const input = make("input", { type: "search", placeholder: "id, class, wrong" }), output = make("output", {}), found = make("div", {});
    input.addEventListener("input", () => {
      const text = input.value.trim().toLowerCase(), wanted = text.split(/\s+/).filter(Boolean);
      const hits = rows.filter((row) => wanted.every((word) => lines.get(row).includes(word)));
      const near = ([id]) => (id.toLowerCase() === text ? 2 : id.toLowerCase().split(/[^\p{L}\p{N}]+/u).includes(wanted[0]) ? 1 : 0);
      told.full.forEach((row, i) => { cards[i].hidden = !hits.includes(row); });
      const short = wanted.length ? hits.filter((row) => !full.has(row)).sort((a, b) => near(b) - near(a)) : [];
      found.replaceChildren(...short.slice(0, MATCHES).map((row, i) => cardOf(row, i === 0)));
      const more = short.length > MATCHES ? `, the first ${MATCHES} shown` : hits.length ? "" : `: the page has these${rows.length === told.total ? "" : ` of ${told.total} documents, mistakes first`}; plugsamp report run=… 'documents=[ID]' explains any other`;
      output.textContent = wanted.length ? `${hits.length} of ${rows.length}${more}` : "";
      show();
    });
    lookup.append(make("label", {}, "Find a document", input), output);
    lookup.after(found);
    lookup.hidden = false;
  };
  if (told) {
    shelf.append(...told.full.map((row, i) => cardOf(row, i === 0 || "open" in shelf.dataset)));
    const inflate = async () => {
      const bytes = Uint8Array.from(atob(told.short), (c) => c.charCodeAt(0));
      return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
    };
    inflate().then(finder, () => {
      finder([]);
      lookup.append(make("p", { className: "note", textContent: `This browser cannot unpack the other documents (it has no DecompressionStream): only the ${told.full.length} below can be found.` }));
    });
  }

  // A phone begins with the topics; other sections are a touch away.
  if (innerWidth <= NARROW) for (const fold of $$(".section:not(#topics *)")) fold.open = false;

  // On paper all but the technical part is open; of topics those that the reader has opened.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = $$("details.document:not([open]), details.section:not([open])").filter((one) => !one.closest("#run"));
    for (const one of unfolded) one.open = true;
    for (const tbody of $$("tbody.later")) tbody.hidden = false;
  });
  addEventListener("afterprint", () => { for (const one of unfolded) one.open = false; cut(); });

  rankBy(start);
  cut();
  show();
  if (location.hash) go(location.hash.slice(1));
})();
