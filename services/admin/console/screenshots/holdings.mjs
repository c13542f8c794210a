/** Deposits as a library has them: names, sizes and mishaps for a fleet that shall look lived in. */
const pad = (n) => String(n).padStart(3, "0");
const KB = 1_000;
const MB = 1_000 * KB;

const numbered = (count, make) => Array.from({ length: count }, (_, i) => make(i + 1));

export const COLLECTIONS = {
  ucb_maps_content: "UC Berkeley, Earth Sciences and Map Library",
  ucla_newsreels_content: "UCLA Film and Television Archive, newsreels",
  ucsc_special_content: "UC Santa Cruz, Special Collections",
  ucsd_dissertations_content: "UC San Diego, dissertations",
};

/** Held before anything is submitted to it. */
export const HELD = {
  collection: "ucsd_dissertations_content",
  reason: "storage node 9502 is being migrated until Thursday",
};

/**
 * `trouble`: "missing" is not on the content server, "altered" has other bytes than its manifest says. `slow` files
 * trickle, so that there is a download to look at.
 */
export const BATCHES = [
  {
    profile: "ucb_maps_content",
    submitter: "mreyes",
    title: "Sanborn fire insurance maps, Alameda County",
    creator: "Sanborn Map Company",
    files: numbered(18, (n) => ({ name: `sanborn_alameda_${pad(n)}.tif`, size: (90 + 37 * n) * KB })),
  },
  {
    profile: "ucsc_special_content",
    submitter: "tlesh",
    title: "Ticket stubs and handbills, 1968 to 1973",
    creator: "McHenry Library",
    files: numbered(12, (n) => ({
      name: `handbill_${pad(n)}.jp2`,
      size: (40 + 23 * n) * KB,
      ...([3, 7, 8].includes(n) ? { trouble: "missing" } : n === 11 ? { trouble: "altered" } : {}),
    })),
  },
  {
    profile: "ucb_maps_content",
    submitter: "mreyes",
    title: "Aerial photographs of the East Bay, 1939",
    creator: "Fairchild Aerial Surveys",
    files: numbered(9, (n) => ({
      name: `fairchild_c5750_${pad(290 + n)}.tif`,
      size: (300 + 11 * n) * KB,
      ...(n === 4 ? { trouble: "altered" } : {}),
    })),
  },
  {
    profile: "ucsd_dissertations_content",
    submitter: "etd-bot",
    title: "Dissertations, fall 2026",
    creator: "Graduate Division",
    files: numbered(7, (n) => ({ name: `dissertation_2026_${pad(40 + n)}.pdf`, size: (700 + 90 * n) * KB })),
  },
  {
    profile: "ucla_newsreels_content",
    submitter: "jtan",
    title: "Hearst newsreels, outtakes 1936 to 1941",
    creator: "Hearst Corporation",
    files: numbered(10, (n) => ({ name: `newsreel_outtake_${pad(n)}.mov`, size: (22 + 3 * n) * MB, slow: true })),
  },
];

/** Of the general queue: what waits, and what was taken from it. */
export const QUEUED = [
  {
    tenant: "ucb-maps",
    name: "tiles/cut",
    jobs: numbered(14, (n) => ({ sheet: `sanborn_alameda_${pad(n)}.tif`, zoom: 6 })),
  },
  {
    tenant: "ucb-maps",
    name: "georeference",
    jobs: numbered(5, (n) => ({ sheet: `fairchild_c5750_${pad(290 + n)}.tif` })),
  },
  { tenant: "ucla-newsreels", name: "transcode", jobs: numbered(8, (n) => ({ reel: n, to: "h264" })) },
  {
    tenant: "ucla-newsreels",
    name: "captions/check",
    jobs: [{ language: "en" }],
    more: { repeat: "SCHEDULED, +1 DAY", firstRun: "2099-01-01 00:00:00" },
  },
  { tenant: "ucsc-special", name: "ocr", jobs: numbered(11, (n) => ({ page: `handbill_${pad(n)}.jp2` })) },
];

/** An exit code of null: still in hand. */
export const RUN = [
  ...numbered(4, () => ({ tenant: "ucb-maps", name: "tiles/cut", worker: "tiler-1", exitCode: 200, result: "ok" })),
  { tenant: "ucb-maps", name: "tiles/cut", worker: "tiler-2", exitCode: null },
  { tenant: "ucla-newsreels", name: "transcode", worker: "media-1", exitCode: null },
  { tenant: "ucla-newsreels", name: "transcode", worker: "media-1", exitCode: null },
  { tenant: "ucsc-special", name: "ocr", worker: "reader-1", exitCode: 200, result: "312 words" },
  { tenant: "ucsc-special", name: "ocr", worker: "reader-1", exitCode: 422, result: "no text on this page" },
];
