/** The last lines of a test run, for people and for scripts: the slowest files, and how many tests passed, failed and were skipped. */
import { relative } from "node:path";

const SLOWEST = 10;

export default class SummaryReporter {
  #root;

  constructor({ rootDir }) {
    this.#root = rootDir;
  }

  onRunComplete(_contexts, results) {
    // A file that cannot even be loaded has no tests to count, yet it failed.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const lines = [
      ...this.#slowest(results.testResults),
      `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`,
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
  }

  #slowest(files) {
    if (files.length <= 1) return [];
    const seconds = ({ perfStats }) => (perfStats.end - perfStats.start) / 1000;
    const slowest = [...files].sort((a, b) => seconds(b) - seconds(a)).slice(0, SLOWEST);
    const total = files.reduce((sum, file) => sum + seconds(file), 0);
    return [
      `the slowest of ${files.length} files, which took ${total.toFixed(0)} s together:`,
      ...slowest.map(
        (file) => `  ${seconds(file).toFixed(1).padStart(6)} s  ${relative(this.#root, file.testFilePath)}`,
      ),
    ];
  }
}
