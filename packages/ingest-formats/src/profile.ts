import type { FormatProblem, ParseFailure } from "./problem.ts";
import { ProfileKeys } from "./profile-keys.ts";
import {
  AGGREGATE_TYPES,
  type AggregateType,
  OBJECT_ROLES,
  OBJECT_TYPES,
  type ObjectRole,
  type ObjectType,
} from "./mom.ts";
import { parseProperties } from "./properties.ts";

/** `partial`: no mail when a batch is queued; `full`: no mail at all. */
export type NotificationSuppression = "none" | "partial" | "full";

/** How a collection wants its deposits treated. */
export interface Profile {
  readonly profileId: string;
  readonly description: string;
  readonly identifierScheme: "ARK";
  readonly identifierNamespace?: string;
  readonly owner: string;
  /** ARKs; the first one is the collection that a deposit belongs to. */
  readonly collections: readonly string[];
  /** Further collections whose objects a deposit may change; it never becomes one of theirs. Sluice's own key, UpdatesCollection.N. */
  readonly updatesCollections: readonly string[];
  readonly objectType: ObjectType;
  readonly objectRole: ObjectRole;
  readonly aggregateType?: AggregateType;
  readonly notificationTo: readonly string[];
  /** Whom a depositor may have told besides: addresses, `@domain`, `*`. Sluice's own key, NotificationAllow.N. */
  readonly notificationAllow: readonly string[];
  /** For deposits of one object each: no mail that they are queued, and the object's id in the report's subject. */
  readonly notificationType?: "verbose";
  readonly notificationSuppression: NotificationSuppression;
  /** A mail tells that a batch has been queued. False where the profile wires Merritt's handlers without the one that does. */
  readonly announcesQueued: boolean;
  /** May carry a user name and password: for the notifier's eyes only. */
  readonly callbackUrl?: string;
  /** What a callback that cannot be delivered does to its job. Sluice's own key, CallbackFailure. */
  readonly callbackFailure: "fail" | "warn";
  /** Overrides the priority that follows from the batch's size. */
  readonly priority?: number;
  /** How much the collection may have in progress, instead of the intake's settings. Sluice's own keys. */
  readonly maxJobsInProgress?: number;
  readonly maxGigabytesInProgress?: number;
  /** What jobs ask the provisioner for besides room on the shared volume. Sluice's own key, ResourceToProvision. */
  readonly resourceToProvision?: string;
  readonly storageNode?: number;
  readonly objectMinterUrl?: string;
  readonly context?: string;
  readonly ezidCoOwner?: string;
  readonly suppressDublinCoreLocalId: boolean;
  /** Merritt's demo profiles take a supplied primary id as a local id. */
  readonly demo: boolean;
  readonly creationDate?: string;
  readonly modificationDate?: string;
}

export interface ProfileOk {
  readonly ok: true;
  readonly profile: Profile;
  /** Unknown keys, keys given twice: nothing that stops a deposit, but probably a slip. */
  readonly warnings: readonly FormatProblem[];
}

export const isProfileId = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(text);

/** Reads a profile file. `expectedId` is the name it was found under, which must be its ProfileID. */
export function parseProfile(text: string, expectedId?: string): ProfileOk | ParseFailure {
  const keys = new ProfileKeys(parseProperties(text));
  const profile = readProfile(keys);
  if (expectedId !== undefined && profile.profileId !== expectedId && profile.profileId !== "") {
    keys.complain("ProfileID", `the file is named ${expectedId}`, `ProfileID: ${expectedId}`);
  }
  const problems = keys.problems;
  return problems.length > 0 ? { ok: false, problems } : { ok: true, profile, warnings: keys.warnings() };
}

/** Keys of Merritt's that mean nothing here, with the reason. They are named when a profile is read. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  NotificationFormat: "mails carry failed.json and completed.json",
  StorageService: "the processor's STORAGE_URL says where objects are stored",
};

function readProfile(keys: ProfileKeys): Profile {
  for (const [key, why] of Object.entries(WITHOUT_EFFECT)) {
    if (keys.text(key) !== undefined) keys.hasNoEffect(key, why);
  }
  return {
    ...readIdentity(keys),
    ...readNotification(keys),
    ...readCallback(keys),
    ...defined("priority", keys.integer("Priority", 0, 99)),
    ...defined("maxJobsInProgress", keys.integer("MaxJobsInProgress", 1, 999_999_999)),
    ...defined("maxGigabytesInProgress", keys.integer("MaxGigabytesInProgress", 1, 999_999_999)),
    ...defined("resourceToProvision", keys.text("ResourceToProvision")),
    ...defined("storageNode", keys.integer("StorageNode", 0, 999_999)),
    ...defined("objectMinterUrl", keys.httpUrl("ObjectMinterURL")),
    ...defined("context", keys.text("Context")),
    ...defined("ezidCoOwner", keys.text("EZID_co-owner")),
    suppressDublinCoreLocalId: keys.boolean("SuppressDublinCoreLocalID"),
    ...defined("creationDate", keys.text("CreationDate")),
    ...defined("modificationDate", keys.text("ModificationDate")),
  };
}

function readIdentity(keys: ProfileKeys) {
  const profileId = keys.required("ProfileID", isProfileId, "letters, digits, _ . -, at most 100") ?? "";
  keys.optionalOneOf("Identifier-scheme", ["ARK"]);
  return {
    profileId,
    demo: profileId.startsWith("demo_"),
    description: keys.text("ProfileDescription") ?? profileId,
    identifierScheme: "ARK" as const,
    ...defined("identifierNamespace", keys.text("Identifier-namespace")),
    owner: keys.ark("Owner") ?? "",
    collections: keys.arks("Collection"),
    updatesCollections: keys.optionalArks("UpdatesCollection"),
    objectType: keys.oneOf("Type", OBJECT_TYPES) ?? OBJECT_TYPES[0],
    objectRole: keys.oneOf("Role", OBJECT_ROLES) ?? OBJECT_ROLES[0],
    ...defined("aggregateType", keys.optionalOneOf("Aggregate", AGGREGATE_TYPES)),
  };
}

function readNotification(keys: ProfileKeys) {
  const type = keys.optionalOneOf("NotificationType", ["verbose", "additional"] as const);
  if (type === "additional") keys.hasNoEffect("NotificationType", "completed.json lists what Merritt's CSV did");
  return {
    notificationTo: keys.mailAddresses("Notification"),
    notificationAllow: keys.mailPatterns("NotificationAllow"),
    ...defined("notificationType", type === "verbose" ? type : undefined),
    notificationSuppression:
      keys.optionalOneOf("NotificationSuppression", ["partial", "full"] as const) ?? ("none" as const),
    announcesQueued: keys.wires("Queue", "HandlerNotification"),
  };
}

function readCallback(keys: ProfileKeys) {
  const callbackUrl = keys.httpUrl("CallbackURL");
  const isWired = keys.wires("Notify", "HandlerCallback");
  if (callbackUrl !== undefined && !isWired) {
    keys.hasNoEffect("CallbackURL", "HandlerNotify names no HandlerCallback: nobody is called back, as in Merritt");
  }
  return {
    ...defined("callbackUrl", isWired ? callbackUrl : undefined),
    callbackFailure: keys.optionalOneOf("CallbackFailure", ["fail", "warn"] as const) ?? ("fail" as const),
  };
}

/** `{name: value}`, or nothing: optional properties are absent, never undefined. */
function defined<N extends string, T>(name: N, value: T | undefined): Partial<Record<N, T>> {
  return value === undefined ? {} : ({ [name]: value } as Record<N, T>);
}
