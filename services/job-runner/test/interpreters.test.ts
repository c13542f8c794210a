/** Handlers in other languages than Node's: each script run by its interpreter, behind the walls. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findTool, skipUnless } from "@sluice/local-parts";
import { testZooKeeper } from "@sluice/testkit";
import { rmdir } from "node:fs/promises";
import { interpreterList } from "../src/sandbox/interpreter-settings.ts";
import { findInterpreters, type Interpreters, withoutNested } from "../src/sandbox/interpreters.ts";
import { contextKey } from "../src/sandbox/pool.ts";
import { findWalls } from "../src/sandbox/walls.ts";
import { aHandler, openSandbox, type Sandbox } from "./support/sandbox.ts";

const standing = await findWalls({ uid: 65_534, namespaces: true });
const bare = await findWalls({ uid: 65_534, namespaces: false });
const walled = standing.walls.namespaces ? {} : { skip: `walls are missing: ${standing.missing}` };
const php = await findTool("php", { part: "php" });
const ASKED = "php,perl,python,cobol,lua=/nowhere/lua";
const interpreters: Interpreters = await findInterpreters(interpreterList().parse(ASKED));
const perl = typeof interpreters.get("perl") === "string" ? { skip: "there is no perl" } : walled;

afterAll(async () => {
  for (const { box } of [standing, bare]) await rmdir(box.root);
});

/** The same handler in three languages: `n` is a 404, `t` goes wrong, `j` asks for a job, all else comes back in capitals. */
const BODIES = {
  php: `<?php
    $payload = rtrim(fgets(STDIN), "\\n");
    $line = fopen("php://fd/3", "w");
    echo "seen by ", getenv("JOB_TYPE"), "\\n";
    if ($payload === "n") { fwrite($line, "404 no such thing"); exit(0); }
    if ($payload === "t") throw new Exception("it went wrong");
    if ($payload === "j") echo "J: next|", json_encode(["of" => getenv("JOB_ID")]), "\\n";
    fwrite($line, strtoupper($payload));`,
  perl: `
    use strict; $| = 1;
    chomp(my $payload = <STDIN>);
    open(my $line, ">&=", 3) or die;
    print "seen by $ENV{JOB_TYPE}\\n";
    if ($payload eq "n") { print $line "404 no such thing"; exit 0 }
    die "it went wrong" if $payload eq "t";
    print qq(J: next|{"of":"$ENV{JOB_ID}"}\\n) if $payload eq "j";
    print $line uc $payload;`,
  python: `
import json, os, sys
payload = sys.stdin.readline().rstrip("\\n")
print("seen by", os.environ["JOB_TYPE"])
if payload == "n":
    os.write(3, b"404 no such thing"); sys.exit(0)
if payload == "t":
    raise ValueError("it went wrong")
if payload == "j":
    print("J: next|" + json.dumps({"of": os.environ["JOB_ID"]}, separators=(",", ":")))
os.write(3, payload.upper().encode())`,
} as const;

describe.each(["php", "perl", "python"] as const)("in %s", (lang) => {
  const found = interpreters.get(lang);
  const tool = lang === "php" ? php : {};
  const here = "skip" in tool ? tool : typeof found === "string" ? { skip: found } : walled;
  let box: Sandbox;
  beforeAll(() => void (box = openSandbox(standing, {}, interpreters)));
  afterAll(() => box.runner.close());

  skipUnless(test, here)("a script gets its payload, asks for jobs, and says its exit code and result", async () => {
    const ends = await box.run(aHandler(BODIES[lang], { lang }), ["a b", "n", "t", "j"]);
    const lines = ["seen by t"];
    expect(ends).toEqual([
      { exit: 200, result: "A B", lines },
      { exit: 404, result: "no such thing", lines },
      { exit: 500, result: expect.stringMatching(/^it ended with status \d+/), lines: expect.arrayContaining(lines) },
      { exit: 200, result: "J", lines: [...lines, expect.stringMatching(/^J: next\|\{"of":"\d+"\}$/)] },
    ]);
  });
});

skipUnless(describe, perl)("a script", () => {
  const lang = "perl";
  const OUT = "open(OUT, '>&=', 3); $| = 1; ";
  let box: Sandbox;
  beforeAll(() => void (box = openSandbox(standing, { cpuMs: 1_000 }, interpreters)));
  afterAll(() => box.runner.close());
  const result = async (code: string): Promise<string> => {
    const [end] = await box.run(aHandler(OUT + code, { lang }));
    return `${end!.exit} ${end!.result ?? ""}`;
  };

  test("has before, beforeEach and afterEach in its language, and a folder that its context keeps", async () => {
    const add = (word: string): string => `open(F, '>>', '/tmp/told'); print F '${word} '; close F`;
    const handler = aHandler(`${OUT} open(F, '/tmp/told'); print OUT <F>; close F; ${add("body")}`, {
      lang,
      before: add("before"),
      beforeEach: add("each"),
      afterEach: add("after"),
    });
    const told = async (payloads: readonly string[]): Promise<unknown> =>
      (await box.run(handler, payloads)).map((end) => end.result);
    expect(await told(["1", "2"])).toEqual(["before each ", "before each body "]);
    expect(await told(["3"])).toEqual(["before each body body after each "]);
    const [end] = await box.run(aHandler("1", { lang, before: "die 'not today'" }));
    expect(end).toMatchObject({ exit: 500, result: expect.stringContaining("not today") });
  });

  test("says nothing, more than one line, or too much", async () => {
    expect(await result("1")).toBe("200 ");
    expect(await result("print OUT '422'")).toBe("422 ");
    expect(await result('print OUT "250 one\\ntwo\\n"')).toBe("250 one\ntwo");
    expect(await result("print OUT 'x' x 17e6")).toBe("413 the result is larger than 16 MB");
    // It has not read its payload.
    const [end] = await box.run(aHandler("exit 0", { lang }), ["x".repeat(1e6)]);
    expect(end).toEqual({ exit: 200, result: undefined, lines: [] });
  });

  test("finds no file, program, process, privilege, environment or host", async () => {
    const zk = await testZooKeeper();
    const [host, port] = zk.connect.split("/")[0]!.split(":");
    const look = `
      use Socket;
      opendir(D, "/"); my %seen = map { $_ => 1 } grep { !/^\\./ } readdir D;
      my $write = open(W, ">", "/usr/evil") ? "written" : "refused";
      my $kill = kill("KILL", ${process.pid}) + kill("KILL", 1);
      my $run = system("/bin/sh", "-c", "true") == 0 ? "ran" : "not there";
      socket(S, PF_INET, SOCK_STREAM, 0);
      my $host = connect(S, sockaddr_in(${port}, inet_aton("${host}"))) ? "reached" : "unreachable";
      my $root = $> == 0 && open(W, ">", "/dev/new") ? "root" : "nobody";
      print OUT join ",", (join "+", grep { $seen{$_} } qw(etc home root work proc var)), $write, $kill, $run, $host, $root,
        join "+", sort keys %ENV;`;
    expect(await result(look)).toMatch(
      /^200 (etc)?,refused,[01],not there,unreachable,nobody,HOME\+JOB_ID\+JOB_TYPE\+LANG\+PATH\+TMPDIR$/,
    );
    expect(await result("print OUT -e '/etc/passwd' || -e '/etc/shadow' ? 'there' : 'hidden'")).toBe("200 hidden");
    expect(await result("print OUT 'the harness lives'")).toBe("200 the harness lives");
  });

  skipUnless(test, process.arch === "x64" ? {} : { skip: "the number of a system call is that of x86-64" })(
    "has no namespaces of its own to be privileged in",
    async () => {
      const [unshare, newUser] = [272, 0x10000000];
      expect(await result(`print OUT syscall(${unshare}, ${newUser}) == 0 ? "privileged" : "refused"`)).toBe(
        "200 refused",
      );
    },
  );

  test("leaves nothing behind that acts during the next job", async () => {
    const handler = aHandler(
      `${OUT} chomp(my $p = <STDIN>);
       if ($p eq 'leave' && !fork) { close STDIN; for (1..1e9) { print "J: evil|x\\n"; select(undef, undef, undef, 0.01) } }
       if ($p ne 'leave') { select(undef, undef, undef, 0.2) }
       print OUT $p;`,
      { lang },
    );
    const ends = await box.run(handler, ["leave", "next"]);
    expect(ends[0]).toMatchObject({ exit: 200, result: "leave" });
    expect(ends[1]).toEqual({ exit: 200, result: "next", lines: [] });
  });

  test.each([
    ["children that work while it waits", "fork || do { 1 while 1 } for 1..4; wait", [504]],
    // By the system, or by who looks.
    ["more memory than one process may have", "my @k; push @k, 'x' x 1e7 while 1", [500, 507]],
    [
      "more memory than all of them may have",
      "for (1..8) { fork || do { my $k = 'x' x 8e7; sleep 60 } } sleep 60",
      [507],
    ],
    ["processes without end", "while (1) { fork; select(undef, undef, undef, 0.001) }", [504]],
    ["a flood of output", "print 'x' x 1e6, qq(\\n) while 1", [507]],
  ])("is ended for %s, alone", async (_, code, exits) => {
    const handler = aHandler(`chomp(my $p = <STDIN>); if ($p eq 'bad') { ${code} }`, { lang });
    const [bad, good] = await box.run(handler, ["bad", "good"]);
    expect(exits).toContain(bad!.exit);
    expect(good).toMatchObject({ exit: 200 });
  });
});

test("what a runner has not, or may not start, is said and tried again", async () => {
  const boxes = [openSandbox(standing, {}, interpreters), openSandbox(bare, {}, interpreters)];
  const ends = async (at: number, lang: string) => (await boxes[at]!.run(aHandler("", { lang })))[0]!;
  const no = (why: string) => ({ exit: 503, result: expect.stringContaining(why) as unknown });
  expect(await ends(0, "ruby")).toEqual(no("no interpreter ruby: INTERPRETERS names those that it has"));
  expect(await ends(0, "cobol")).toEqual(no("write cobol=/path/of/its/program"));
  expect(await ends(0, "lua")).toEqual(no("there is no /nowhere/lua"));
  expect(await ends(1, "constructor")).toEqual(no("no interpreter constructor"));
  if (!("skip" in perl)) expect(await ends(1, "perl")).toEqual(no("no walls for scripts"));
  for (const { runner } of boxes) await runner.close();
});

test("the setting names interpreters, and refuses what is none", () => {
  const read = (text: string) => interpreterList().safeParse(text);
  expect(read("php, lua=/usr/bin/lua5.4:/usr/share/lua").data).toEqual([
    { name: "php", program: null, folders: [] },
    { name: "lua", program: "/usr/bin/lua5.4", folders: ["/usr/share/lua"] },
  ]);
  for (const bad of ["node", "PHP", "lua=lua5.4", "lua=/", "lua=/usr/bin/lua:share"])
    expect(read(bad).error?.issues[0]?.message).toMatch(/names no interpreter: write php, or lua=/);
  expect(withoutNested(["/usr/lib/a", "/usr/lib/a/b.so", "/usr/lib/ab", "/usr/lib/a"])).toEqual([
    "/usr/lib/a",
    "/usr/lib/ab",
  ]);
});

test("types of one tenant share a context only in one language", () => {
  const [js, pl] = ["node", "perl"].map((lang) => contextKey(aHandler("", { lang, eid: "mine" })));
  expect(js).not.toBe(pl);
});
