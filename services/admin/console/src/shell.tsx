/** What is around every page: menu, who is here, theme, keys. */
import { useEffect, useState } from "preact/hooks";
import { signOut } from "./api.ts";
import { Keys } from "./keys.tsx";
import { PAGES, type PageRow } from "./pages.tsx";
import { Link, matched, usePlace } from "./router.tsx";
import { useSession } from "./session.tsx";
import { chooseTheme, storedTheme, type Theme, THEMES } from "./theme.ts";
import { Nothing } from "./ui/bits.tsx";
import { Toast } from "./ui/toast.tsx";

export function Shell() {
  const { can, model } = useSession();
  const place = usePlace();
  const allowed = PAGES.filter(({ needs, when }) => can(needs) && (when?.(model) ?? true));
  // One page per address: what comes first in the table.
  const rows = allowed.filter((row, i) => allowed.findIndex(({ pattern }) => pattern === row.pattern) === i);
  const row = rows.find(({ pattern }) => matched(pattern, place.path) !== null);
  const params = row === undefined ? null : matched(row.pattern, place.path);

  useEffect(() => {
    document.title = `${row?.title ?? "Not found"} · Sluice`;
    scrollTo(0, 0);
  }, [place.path]);

  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Menu rows={rows} path={place.path} />
      <main id="main" tabIndex={-1}>
        {row === undefined ? <Missing /> : row.show(params ?? {}, place)}
      </main>
      <Toast />
      <Keys />
    </>
  );
}

const Missing = () => (
  <>
    <h1>Not here</h1>
    <Nothing>There is no such page, or you may not see it.</Nothing>
  </>
);

function Menu({ rows, path }: { readonly rows: readonly PageRow[]; readonly path: string }) {
  const { me, model } = useSession();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  const isHere = (pattern: string): boolean => path === pattern || (pattern !== "/" && path.startsWith(`${pattern}/`));
  return (
    <header class="side">
      <div class="brand">
        <Link to="/">
          <Logo /> Sluice
        </Link>
        <button type="button" class="menu" aria-expanded={open} aria-controls="menu" onClick={() => setOpen(!open)}>
          Menu
        </button>
      </div>
      <div id="menu" class={open ? "open" : ""}>
        <nav aria-label="Pages">
          <ul>
            {rows.map(({ pattern, menu }) =>
              menu === undefined ? null : (
                <li key={pattern}>
                  <Link to={pattern} aria-current={isHere(pattern) ? "page" : undefined}>
                    {menu}
                  </Link>
                </li>
              ),
            )}
          </ul>
        </nav>
        <div class="who">
          <ThemeChoice />
          <p>
            <strong>{me.name}</strong> <span class="quiet">{me.role}</span>
          </p>
          <p class="quiet">
            {model.version} · <a href="/docs">API</a> · <kbd>?</kbd> keys
          </p>
          <button type="button" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </div>
    </header>
  );
}

const Logo = () => (
  <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true" class="logo">
    <rect width="32" height="32" rx="7" />
    <path d="M6 12c3.300-3 6.700-3 10 0s6.700 3 10 0M6 20c3.300-3 6.700-3 10 0s6.700 3 10 0" />
  </svg>
);

function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  return (
    <label class="theme">
      Theme
      <select
        value={theme}
        onChange={({ currentTarget }) => {
          const chosen = THEMES.find((each) => each === currentTarget.value) ?? "system";
          chooseTheme(chosen);
          setTheme(chosen);
        }}
      >
        {THEMES.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    </label>
  );
}
