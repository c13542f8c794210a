/**
 * The last line of a test run, for people and for scripts: how many passed, failed and were skipped. Where FAILED_FILES
 * names a file, it also leaves there which test files failed, and whether a broken invariant was among the reasons.
 */
import { writeFileSync } from "node:fs";

/** The code frame that jest shows is part of the message, so the name of what was checked is too. */
const INVARIANT = /violation|invariant/iu;

export default class CountReporter {
  onRunComplete(_contexts, results) {
    // A file that cannot even be loaded has no tests to count, yet it failed.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    process.stdout.write(`${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`);
    if (process.env.FAILED_FILES !== undefined)
      writeFileSync(process.env.FAILED_FILES, JSON.stringify(failures(results)));
  }
}

function failures({ testResults }) {
  const failed = testResults.filter(({ numFailingTests, testExecError }) => numFailingTests > 0 || testExecError);
  return {
    files: failed.map(({ testFilePath }) => testFilePath),
    brokenInvariant: failed.some(({ failureMessage }) => INVARIANT.test(failureMessage ?? "")),
  };
}
