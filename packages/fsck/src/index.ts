export { fsck, type FsckOptions, type FsckResult } from "./fsck.ts";
export { secureTree, walkAccessLists, type Listed, type Secured, type SecureOptions } from "./access-lists.ts";
export { type FolderOnDisk, type ListFolders } from "./folder-rule.ts";
export { repair } from "./repair.ts";
export { type Finding, type FsckReport, printReport, type RuleCount, type Severity } from "./report.ts";
export { RULES, type RuleName, type Subject } from "./facts.ts";
