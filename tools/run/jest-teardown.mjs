export default async function teardown() {
  await globalThis.sluiceTestZooKeeper?.stop();
}
