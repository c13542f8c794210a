/** The shape of jest's `test` and `describe` as far as needed: this package must not depend on jest. */
interface Skippable<T> {
  skip: T;
}

export interface SkipOptions {
  /** True for tools whose absence even CI accepts: Docker. */
  readonly optional?: boolean;
  readonly environment?: NodeJS.ProcessEnv;
}

/**
 * `skipUnless(test, tool)("name", …)`: runs the test when the tool is there, else skips it and prints the reason.
 * With SLUICE_FAIL_ON_SKIP=1 a missing tool is an error, so that a CI machine cannot go green by testing nothing.
 */
export function skipUnless<T extends Skippable<unknown>>(
  runner: T,
  tool: { readonly skip: string } | object,
  options: SkipOptions = {},
): T | T["skip"] {
  if (!("skip" in tool)) return runner;
  const environment = options.environment ?? process.env;
  if (environment["SLUICE_FAIL_ON_SKIP"] === "1" && options.optional !== true) {
    throw new Error(`a test would be skipped: ${tool.skip}`);
  }
  process.stderr.write(`skipped: ${tool.skip}\n`);
  return runner.skip;
}
