/** Runs before the first paint: who has chosen a theme does not see the other one flash by. */
import { applyTheme, storedTheme } from "./theme.ts";

applyTheme(storedTheme());
