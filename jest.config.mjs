/** Native ESM, TypeScript stripped by swc; `@sluice/*` resolve to their sources, so no test runs stale code. */
export default {
  testMatch: ["<rootDir>/{packages,services,tools,tests}/**/*.test.ts"],
  testPathIgnorePatterns: ["/node_modules/", "/dist/", "/data/"],
  modulePathIgnorePatterns: ["/dist/", "<rootDir>/data/"],
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { target: "es2022", parser: { syntax: "typescript" } }, module: { type: "es6" }, sourceMaps: "inline" },
    ],
  },
  testEnvironmentOptions: { customExportConditions: ["source", "node", "node-addons"] },
  globalSetup: "<rootDir>/tools/run/jest-setup.mjs",
  globalTeardown: "<rootDir>/tools/run/jest-teardown.mjs",
  // One more than the two cores that it is meant for: most files wait often, for a server, a session's end, a browser.
  maxWorkers: 3,
  // Far above what any test takes: it ends a test that hangs, and must not end one that a busy machine slows down.
  testTimeout: 600_000,
};
