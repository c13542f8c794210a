import regexp from "eslint-plugin-regexp";
import tseslint from "typescript-eslint";

const ours = (names) => names.map((name) => `@sluice/${name}`);
const SERVICES =
  "batch-intake estimator provisioner downloader processor recorder notifier reporter admin stage-api".split(" ");
/** What services are made of: nothing that asks them over HTTP needs any of it. */
const ENGINE =
  "stage-runtime http-api safe-io local-parts testkit inventory journal profile-store working-folder".split(" ");

/** `files` may import of ours only what is not in `names`. */
const mayNotImport = (files, names, why) => ({
  files,
  rules: {
    "no-restricted-imports": [
      "error",
      {
        paths: ours(names).map((name) => ({ name, message: why })),
        patterns: [
          { group: ["@sluice/*/*"], message: "No deep imports: a package's index is its surface." },
          { group: ours(SERVICES), message: "Nobody imports a service." },
        ],
      },
    ],
  },
});

const RESTRICTED = [
  { selector: "ExportAllDeclaration", message: "Name what you export." },
  { selector: "ExportDefaultDeclaration", message: "Named exports only." },
  {
    selector: "Property[key.name='version'] > UnaryExpression[operator='-'][argument.value=1]",
    message: "An unconditional write: name the version you read.",
  },
];

const TEST_LIMIT =
  "One limit for all tests: testTimeout in jest.config.mjs. Waits measure progress (testkit's waitFor).";
/** Limits of wall time, per file or per test: a busy machine runs into them. */
const TEST_LIMITS = [
  "CallExpression[callee.object.name='jest'][callee.property.name='setTimeout']",
  "CallExpression[callee.object.name='AbortSignal'][callee.property.name='timeout']",
  "CallExpression[callee.name=/^(test|it|onlyWhole)$/][arguments.length>2]",
  "CallExpression[callee.type='CallExpression'][callee.callee.property.name='each'][arguments.length>2]",
  "CallExpression[callee.name=/^(before|after)(All|Each)$/][arguments.length>1]",
].map((selector) => ({ selector, message: TEST_LIMIT }));

/** Each element becomes an argument, and about 120,000 of them overflow the stack. */
const LONG_LISTS = [
  {
    selector: "CallExpression[callee.property.name=/^(push|unshift)$/] > SpreadElement",
    message: "A long list overflows the stack here: add its elements one by one.",
  },
  {
    selector: "CallExpression[callee.object.name='Math'] > SpreadElement",
    message: "A long list overflows the stack here: use reduce.",
  },
];

export default tseslint.config(
  { ignores: ["**/dist/", "**/node_modules/", "data/", "**/*.d.ts"] },
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/consistent-type-definitions": ["error", "interface"],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "no-restricted-syntax": ["error", ...RESTRICTED],
      "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // Input comes from strangers: an expression whose repeats overlap takes quadratic time on it, and stops the whole process.
    files: ["{packages,services,tools}/**/*.{ts,tsx,mjs}"],
    ignores: ["**/test/**", "**/screenshots/**", "**/build.mjs"],
    plugins: { regexp },
    rules: {
      "regexp/no-dupe-disjunctions": ["error", { reportExponentialBacktracking: "potential" }],
      "regexp/no-super-linear-backtracking": ["error", { report: "potential" }],
      "regexp/no-super-linear-move": ["error", { report: "potential", ignoreSticky: false, ignorePartial: false }],
    },
  },
  {
    files: ["{packages,services}/**/*.{ts,tsx}"],
    ignores: ["**/test/**", "**/screenshots/**", "packages/testkit/**"],
    rules: { "no-restricted-syntax": ["error", ...RESTRICTED, ...LONG_LISTS] },
  },
  {
    // These answer strangers. A promise that nobody waits for and that fails would end the process: it says what becomes of it.
    files: [
      "packages/{job-*,http-api,journal,profile-store,client,access}/src/**/*.ts",
      "services/{admin,batch-intake,job-api,job-runner,stage-api}/src/**/*.ts",
    ],
    rules: {
      "@typescript-eslint/no-floating-promises": ["error", { ignoreVoid: false }],
      "no-restricted-syntax": [
        "error",
        ...RESTRICTED,
        ...LONG_LISTS,
        {
          selector: "UnaryExpression[operator='void'] > CallExpression:not([callee.property.name='catch'])",
          message: "A detached promise: end it with .catch().",
        },
      ],
    },
  },
  {
    // Time and chance are ports: they enter in main.ts and in the few files that implement the port.
    files: [
      "packages/{queue-core,ingest-formats,job-doors,job-queue,job-router,job-journal,job-store,job-workers}/src/**/*.ts",
      "services/*/src/**/*.ts",
    ],
    ignores: ["services/*/src/main.ts"],
    rules: {
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now", message: "Take the clock as a port." },
        { object: "Math", property: "random", message: "Take randomness as a port." },
      ],
    },
  },
  {
    files: ["**/test/**/*.ts", "tests/**/*.ts"],
    rules: {
      "no-restricted-globals": ["error", { name: "setTimeout", message: "No sleeps: wait for a signal." }],
      "no-restricted-syntax": ["error", ...RESTRICTED, ...TEST_LIMITS],
      "@typescript-eslint/no-non-null-assertion": "off",
    },
  },
  mayNotImport(
    ["packages/zookeeper/src/**"],
    ["queue-core", "stage-runtime", "http-api", "ingest-formats", "safe-io", "local-parts", "testkit"],
    "zookeeper stands at the bottom.",
  ),
  mayNotImport(
    ["packages/queue-core/src/**"],
    ["stage-runtime", "http-api", "ingest-formats", "safe-io", "local-parts", "testkit"],
    "queue-core knows only zookeeper.",
  ),
  mayNotImport(
    ["packages/job-queue/src/**"],
    ["queue-core", "stage-runtime", "http-api", "ingest-formats", "safe-io", "local-parts", "testkit"],
    "job-queue knows only zookeeper.",
  ),
  mayNotImport(
    ["packages/job-router/src/**"],
    ["queue-core", "stage-runtime", "http-api", "ingest-formats", "safe-io", "local-parts", "testkit", "job-doors"],
    "job-router knows job-queue and zookeeper.",
  ),
  mayNotImport(
    ["packages/job-doors/src/**"],
    ["zookeeper", "queue-core", "stage-runtime", "ingest-formats", "safe-io", "local-parts", "testkit"],
    "Doors know the job queue's commands and HTTP, not where the jobs stand.",
  ),
  mayNotImport(
    ["packages/job-workers/src/**"],
    ["queue-core", "stage-runtime", "http-api", "ingest-formats", "safe-io", "local-parts", "testkit", "job-queue"],
    "job-workers knows only zookeeper.",
  ),
  mayNotImport(
    ["packages/job-handlers/src/**"],
    ["queue-core", "stage-runtime", "http-api", "ingest-formats", "safe-io", "local-parts", "testkit"],
    "job-handlers knows zookeeper and what travels over HTTP.",
  ),
  mayNotImport(
    ["packages/{job-store,job-journal}/src/**"],
    ["zookeeper", "queue-core", "stage-runtime", "http-api", "ingest-formats", "local-parts", "testkit"],
    "What the job queue keeps on disk: knows its commands and records, not where the jobs stand.",
  ),
  mayNotImport(
    ["packages/stage-runtime/src/**"],
    ["http-api", "ingest-formats", "safe-io", "local-parts", "testkit"],
    "stage-runtime knows queue-core and zookeeper.",
  ),
  mayNotImport(
    ["packages/{http-api,ingest-formats,inventory,journal,safe-io,local-parts}/src/**"],
    ["zookeeper", "queue-core", "stage-runtime", "testkit"],
    "A leaf: imports nothing of ours.",
  ),
  mayNotImport(
    ["packages/{fsck,merritt-import,tree-snapshot}/src/**"],
    ["stage-runtime", "http-api", "ingest-formats", "safe-io", "local-parts", "testkit"],
    "Operators' tools know queue-core and zookeeper.",
  ),
  mayNotImport(
    ["packages/wire/src/**"],
    ["client", "cli", ...ENGINE.filter((name) => name !== "safe-io")],
    "wire knows what states and roles are called, and which URLs may be shown.",
  ),
  mayNotImport(
    ["packages/client/src/**"],
    ["queue-core", "zookeeper", "access", "cli", ...ENGINE],
    "client knows only wire: it works in browsers.",
  ),
  mayNotImport(
    ["packages/job-client/src/**"],
    ["queue-core", "zookeeper", "access", "cli", "job-queue", "job-doors", ...ENGINE],
    "job-client knows what travels, not who answers.",
  ),
  mayNotImport(
    ["packages/cli/src/**"],
    ENGINE,
    "cli goes through client; only fsck, snapshots and their like know the queue.",
  ),

  mayNotImport(
    ["packages/cli/src/direct/fsck.ts"],
    ENGINE.filter((name) => name !== "working-folder"),
    "fsck looks at the folders beside the tree, and at nothing else of the engine's.",
  ),
  mayNotImport(["services/*/src/**", "tools/*/src/**"], ["testkit"], "testkit is for tests."),
  {
    files: ["**/*.ts"],
    ignores: ["packages/zookeeper/src/adapter.ts"],
    rules: {
      "no-restricted-modules": "off",
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          paths: [
            {
              name: "node-zookeeper-client",
              message: "Only packages/zookeeper/src/adapter.ts knows the client and its defects.",
            },
          ],
        },
      ],
    },
  },
);
