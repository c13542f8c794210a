export { isProfileName } from "./profile-name.ts";
export { openProfiles } from "./profile-store.ts";
export type { ProfileLookup, ProfileProblem, ProfileStore, ProfileStoreOptions } from "./profile-store.ts";
export { type Addressed, mailRecipients, mayBeTold } from "./mail-recipients.ts";
