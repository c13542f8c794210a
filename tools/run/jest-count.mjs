/** The last line of a test run, for people and for scripts: how many passed, failed and were skipped. */
export default class CountReporter {
  onRunComplete(_contexts, results) {
    // A file that cannot even be loaded has no tests to count, yet it failed.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    process.stdout.write(`${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`);
  }
}
