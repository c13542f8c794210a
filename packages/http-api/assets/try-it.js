/** Makes the "Try it" forms of the page work: asks this very server and shows the answer as it comes. */
"use strict";

for (const details of document.querySelectorAll("details.try")) {
  const form = details.querySelector("form");
  const stop = form.querySelector(".stop");
  const answer = form.querySelector(".answer");
  let asking = null;

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    asking?.abort();
    const mine = (asking = new AbortController());
    stop.hidden = false;
    answer.hidden = false;
    answer.textContent = "…";
    try {
      await ask(form, answer, mine.signal);
    } catch (error) {
      answer.append(mine.signal.aborted ? "\n(stopped)" : `\n${error.message}`);
    } finally {
      if (asking === mine) stop.hidden = true;
    }
  });
  stop.addEventListener("click", () => asking?.abort());
  details.hidden = false;
}

async function ask(form, answer, signal) {
  const { url, init } = requestOf(form);
  const response = await fetch(url, { ...init, signal });
  const type = response.headers.get("content-type") ?? "";
  answer.textContent = `${init.method} ${url}\n${response.status} ${response.statusText}  ${type}\n\n`;
  if (type.includes("json")) {
    answer.append(JSON.stringify(await response.json(), null, 2));
    return;
  }
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader.read()) answer.append(part.value);
}

function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const input of form.querySelectorAll("[data-in]")) {
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    else if (input.value === "") continue;
    else if (input.dataset.in === "query") query.set(input.name, input.value);
    else headers[input.name] = input.value;
  }
  const body = form.elements.namedItem("body")?.value;
  if (body !== undefined) headers["content-type"] = "application/json";
  const url = query.size === 0 ? path : `${path}?${query}`;
  return { url, init: { method: form.dataset.method.toUpperCase(), headers, body } };
}
