/** A handler, new or in a new version. What is not shown here (hooks, limits, what it may reach) stays as it was. */
import { type Handler, type HandlerSpec, JOBS } from "@sluice/wire";
import { useState } from "preact/hooks";
import { ActionDialog } from "../actions/action-dialog.tsx";
import { call } from "../api.ts";

/** Of every other language: an interpreter's script. */
const BODIES: ReadonlyMap<string, string> = new Map([
  ["node", "the body of a function"],
  ["http", "the URL that is asked"],
  ["container", "the image's configuration, as JSON"],
]);

interface PutHandlerProps {
  readonly tenant: string;
  /** Absent: the first of its type. */
  readonly from?: Handler;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function PutHandler({ tenant, from, onDone, onClose }: PutHandlerProps) {
  const [type, setType] = useState(from?.type ?? "");
  const [lang, setLang] = useState(from?.lang ?? "node");
  const [body, setBody] = useState(from?.body ?? "");
  const [network, setNetwork] = useState((from?.allow?.network ?? []).join(", "));
  return (
    <ActionDialog
      title={from === undefined ? `Add a handler for ${tenant}` : `New version of ${from.type}`}
      says="Jobs that are taken from now on are run with it; earlier versions stay."
      verb={from === undefined ? "Add" : "Save"}
      word={type}
      onDone={onDone}
      onClose={onClose}
      send={async ({ reason }) => {
        const spec = { ...settingsOf(from), lang, body, ...allowed(from, network) };
        const answer = await call(JOBS.putHandler, { params: { tenant, type }, query: { reason }, body: spec });
        return answer.ok
          ? { ...answer, value: { message: `version ${answer.value.version} of ${type} is kept` } }
          : answer;
      }}
    >
      {from === undefined ? (
        <label class="field">
          Type
          <input
            name="type"
            required
            maxLength={255}
            autoComplete="off"
            value={type}
            onInput={({ currentTarget }) => setType(currentTarget.value)}
          />
        </label>
      ) : null}
      <label class="field">
        Language
        <span class="quiet">node, http, container, or an interpreter that runners have, such as php</span>
        <input
          name="lang"
          required
          maxLength={32}
          pattern="[a-z][a-z0-9.+\-]*"
          list="languages"
          autoComplete="off"
          value={lang}
          onInput={({ currentTarget }) => setLang(currentTarget.value)}
        />
        <datalist id="languages">
          {[...BODIES.keys()].map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      </label>
      <label class="field">
        Body <span class="quiet">{BODIES.get(lang) ?? "the script"}</span>
        <textarea
          name="body"
          rows={12}
          required
          spellcheck={false}
          value={body}
          onInput={({ currentTarget }) => setBody(currentTarget.value)}
        />
      </label>
      <label class="field">
        May reach <span class="quiet">host:port, with commas between them; empty: nothing</span>
        <input
          name="network"
          autoComplete="off"
          value={network}
          onInput={({ currentTarget }) => setNetwork(currentTarget.value)}
        />
      </label>
    </ActionDialog>
  );
}

function settingsOf(from: Handler | undefined): Omit<HandlerSpec, "lang" | "body"> {
  if (from === undefined) return {};
  const { id: _id, tenant: _tenant, type: _type, version: _v, created: _c, by: _by, allow: _allow, ...settings } = from;
  return settings;
}

function allowed(from: Handler | undefined, text: string): Pick<HandlerSpec, "allow"> {
  const network = text.split(/[\s,]+/).filter((each) => each !== "");
  const files = from?.allow?.files;
  if (network.length === 0 && files === undefined) return {};
  return {
    allow: { ...(network.length === 0 ? {} : { network }), ...(files === undefined ? {} : { files }) },
  };
}
