import { describe, expect, test } from "@jest/globals";

import { describeProblem, parseProfile, type Profile } from "../src/index.ts";

const PROFILE = `# A demo
ProfileID: sluice_demo_content
ProfileDescription: Sluice Demo
Identifier-scheme: ARK
Identifier-namespace: 99999
Collection.1: ark:/99999/m5000000
Type: MRT-curatorial
Role: MRT-content
Aggregate:
Owner: ark:/99999/j2000000
Notification.2: second@example.org
Notification.1: first@example.org
HandlerProcess.1: org.cdlib.mrt.ingest.handlers.process.HandlerMinter
StorageService: http://store:8080/store
StorageNode: 7777
CreationDate: 2010-01-19T13:28:14-08:00
ObjectMinterURL: http://ezid:4567/shoulder/ark:/99999/fk4
CallbackURL: http://callback:8098
Priority: 2
NotificationSuppression: partial
Context: demo
`;

function read(text: string): Profile {
  const result = parseProfile(text);
  if (!result.ok) throw new Error(result.problems.map(describeProblem).join("\n"));
  return result.profile;
}

const complaints = (text: string, expectedId?: string): string[] => {
  const result = parseProfile(text, expectedId);
  return result.ok ? [] : result.problems.map(describeProblem);
};

test("a profile is read whole", () => {
  expect(read(PROFILE)).toEqual({
    profileId: "sluice_demo_content",
    description: "Sluice Demo",
    identifierScheme: "ARK",
    identifierNamespace: "99999",
    collections: ["ark:/99999/m5000000"],
    updatesCollections: [],
    objectType: "MRT-curatorial",
    objectRole: "MRT-content",
    owner: "ark:/99999/j2000000",
    notificationTo: ["first@example.org", "second@example.org"],
    notificationAllow: [],
    notificationSuppression: "partial",
    announcesQueued: true,
    storageNode: 7777,
    creationDate: "2010-01-19T13:28:14-08:00",
    objectMinterUrl: "http://ezid:4567/shoulder/ark:/99999/fk4",
    callbackUrl: "http://callback:8098",
    callbackFailure: "fail",
    priority: 2,
    context: "demo",
    suppressDublinCoreLocalId: false,
    demo: false,
  });
});

test("Java's other spellings of a property are understood", () => {
  const text = PROFILE.replace("Context: demo", "Context = a long \\\n   one \\u00e9").replace(
    "Priority: 2",
    "Priority 3",
  );
  expect(read(text)).toMatchObject({ context: "a long one é", priority: 3 });
});

describe("a wrong profile is refused by the key's name", () => {
  test.each([
    ["ProfileID: sluice_demo_content", "ProfileID: ../etc", /ProfileID: "..\/etc" is not allowed/],
    ["ProfileID: sluice_demo_content\n", "", /ProfileID is missing/],
    ["Owner: ark:/99999/j2000000", "Owner: me", /Owner: "me" is not allowed \(expected an ARK/],
    ["Collection.1: ark:/99999/m5000000\n", "", /Collection.1: Collection.1 is missing/],
    ["Collection.1: ark:/99999/m5000000", "Collection.1: x", /Collection.1: "x"/],
    ["Type: MRT-curatorial", "Type: MRT-other", /Type: "MRT-other" .*MRT-curatorial or MRT-system/],
    ["Role: MRT-content\n", "", /Role is missing/],
    ["Aggregate:", "Aggregate: all", /Aggregate: "all"/],
    ["Identifier-scheme: ARK", "Identifier-scheme: DOI", /Identifier-scheme: "DOI"/],
    ["Priority: 2", "Priority: 100", /Priority: "100" .*0 to 99/],
    ["StorageNode: 7777", "StorageNode: seven", /StorageNode/],
    ["CallbackURL: http://callback:8098", "CallbackURL: ftp://x/", /CallbackURL/],
    ["ObjectMinterURL: http", "ObjectMinterURL: //", /ObjectMinterURL/],
    ["first@example.org", "first@example.org\\r\\nBcc: x@y.z", /Notification.1/],
    ["NotificationSuppression: partial", "NotificationAllow.1: example.org", /NotificationAllow.1.*@domain or \*/],
    ["NotificationSuppression: partial", "NotificationAllow.2: @a.org,@b.org", /NotificationAllow.2/],
    ["NotificationSuppression: partial", "NotificationSuppression: some", /NotificationSuppression/],
    ["Context: demo", "Context: ${CONTEXT}", /Context: .*template/],
    ["Context: demo", "CallbackFailure: maybe", /CallbackFailure/],
    ["Context: demo", "UpdatesCollection.1: theirs", /UpdatesCollection.1: "theirs" .*an ARK/],
  ])("%j → %j", (from, to, message) => {
    const found = complaints(PROFILE.replace(from, () => to));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(message);
  });

  test("and all its faults are told at once", () => {
    expect(complaints("Priority: x\n")).toHaveLength(6);
  });

  test("and when its file has another name", () => {
    expect(complaints(PROFILE, "other_content")).toEqual([expect.stringMatching(/the file is named other_content/)]);
    expect(complaints(PROFILE, "sluice_demo_content")).toEqual([]);
  });
});

test("further collections whose objects it updates are read by their numbers", () => {
  const more = "UpdatesCollection.10: ark:/99999/m5ten\nUpdatesCollection.2: ark:/99999/m5two\n";
  expect(read(`${PROFILE}${more}`)).toMatchObject({ updatesCollections: ["ark:/99999/m5two", "ark:/99999/m5ten"] });
});

describe("a key that means something to Merritt and nothing here", () => {
  const warned = (...lines: string[]): string[] => {
    const result = parseProfile(
      `${PROFILE.replace("StorageService: http://store:8080/store\n", "")}${lines.join("\n")}\n`,
    );
    return result.ok ? result.warnings.map(({ code, message }) => `${code} ${message}`) : [];
  };

  test.each([
    ["StorageService", "StorageService: http://store:8080/store", "STORAGE_URL"],
    ["NotificationFormat", "NotificationFormat: xml", "failed.json"],
    ["NotificationType", "NotificationType: additional", "completed.json"],
    ["CallbackURL", "HandlerNotify.2: org.cdlib.mrt.ingest.handlers.notify.HandlerCleanup", "HandlerCallback"],
  ])("is named with its reason when the profile is read: %s", (key, line, why) => {
    expect(warned(line)).toEqual([
      expect.stringMatching(new RegExp(`^PROFILE_KEY_IDLE ${key} has no effect: .*${why}`)),
    ]);
  });

  test("but not where it has one", () => {
    expect(warned("NotificationType: verbose", "HandlerNotify.1: x.HandlerCallback")).toEqual([]);
    expect(read(`${PROFILE}HandlerNotify.2: x.HandlerCleanup\n`).callbackUrl).toBeUndefined();
    expect(read(`${PROFILE}HandlerNotify.1: x.HandlerCallback\n`).callbackUrl).toBe("http://callback:8098");
  });
});

test("unknown keys and repeated keys are warnings", () => {
  const result = parseProfile(`${PROFILE}Colour: blue\nPriority: 9\n`);
  expect(result.ok && result.profile.priority).toBe(9);
  expect(result.ok && result.warnings.map(({ code, column }) => [code, column])).toEqual([
    ["PROFILE_KEY_IDLE", "StorageService"],
    ["PROFILE_KEY_UNKNOWN", "Colour"],
    ["PROFILE_KEY_TWICE", "Priority"],
  ]);
});
