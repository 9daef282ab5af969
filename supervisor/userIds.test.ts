import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { writeInstallation } from "./records.ts";
import { checkUserIds, chooseUserIds, foreignSite, overlapOf } from "./userIds.ts";

const isRoot = process.getuid?.() === 0;
let root: string;
let environments: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "user-ids-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  environments = join(root, "data", "environments");
  mkdirSync(join(root, "etc"));
});

const write = (name: string, text: string) => writeFileSync(join(root, "etc", name), text);

describe("the users of sites", () => {
  it.each([
    ["passwd", "root:x:0:0::/root:/bin/sh\nann:x:250000:100::/:/bin/sh\n", "/etc/passwd gives 250000 to ann."],
    ["group", "wheel:x:299999:\n", "/etc/group gives 299999 to wheel."],
    ["subuid", "ann:100000:65536\nbob:165536:65536\n", "/etc/subuid gives 165536 to 231071 to bob."],
    ["subgid", "# none\n\nbob:1:4000000\n", "/etc/subgid gives 1 to 4000000 to bob."],
  ])("must not be in %s", (name, text, sentence) => {
    write(name, text);
    expect(overlapOf(200_000, root)).toContain(`The users 200000 to 299999 are for sites, but ${sentence}`);
  });

  it("may be next to others, and damaged lines and missing files are ignored", () => {
    write("subuid", "ann:100000:100000\nbob:300000:65536\nbroken\n:::\n");
    write("passwd", "ann:x:199999:100::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n");
    expect(overlapOf(200_000, root)).toBeNull();
  });

  it("are suggested where they are free", () => {
    write("subuid", "bob:165536:65536\ncleo:300000:100000\n");
    expect(overlapOf(200_000, root)).toContain("Set SITEWRIGHT_FIRST_USER_ID=400000,");
    expect(overlapOf(400_000, root)).toBeNull();
  });
});

describe("the first of them", () => {
  const data = () => join(root, "data");
  const choose = (setting?: string) => {
    const settings = { firstUserId: Number(setting ?? 200_000), data: data(), environments };
    return chooseUserIds(settings, setting === undefined ? {} : { SITEWRIGHT_FIRST_USER_ID: setting }, root);
  };
  const record = (firstUserId: number) => {
    mkdirSync(data(), { recursive: true });
    writeInstallation(data(), {
      controlPort: 1,
      edgePort: 2,
      siteSuffix: "localhost",
      firstUserId,
    });
  };
  const takeDefault = () => write("subuid", "bob:165536:65536\n");

  it("is free before there are sites, and stays the same when there are", () => {
    expect(choose()).toBe(200_000);
    takeDefault();
    expect(choose()).toBe(300_000);
    record(300_000);
    write("subuid", "");
    expect(choose()).toBe(300_000);
    mkdirSync(join(environments, "site"), { recursive: true });
    write("subuid", "bob:300000:65536\n");
    expect(choose()).toBe(300_000);
  });

  it("is the default for sites of an earlier version, which recorded none", () => {
    takeDefault();
    mkdirSync(join(environments, "site"), { recursive: true });
    expect(choose()).toBe(200_000);
  });

  it("is the setting if it is given, even if it is not free", () => {
    takeDefault();
    record(300_000);
    expect(choose("200000")).toBe(200_000);
  });
});

describe.runIf(isRoot)("a start as root", () => {
  const start = (firstUserId: number) => {
    const reported: string[] = [];
    checkUserIds({ firstUserId, environments }, (sentence) => reported.push(sentence), root);
    return reported;
  };
  const makeSite = (owner: number) => {
    const folder = join(environments, `site-${owner}`);
    mkdirSync(folder, { recursive: true });
    chownSync(folder, owner, owner);
  };

  it("is refused without sites if the users overlap others", () => {
    write("subuid", "bob:165536:65536\n");
    expect(() => start(200_000)).toThrow("/etc/subuid gives");
    expect(start(300_000)).toEqual([]);
  });

  it("is not refused with sites, which keep their users, but reports the overlap", () => {
    write("subuid", "bob:165536:65536\n");
    makeSite(200_001);
    expect(start(200_000)).toEqual([expect.stringContaining("operator backup")]);
  });

  it("is refused if sites have users of another range", () => {
    makeSite(200_001);
    expect(() => start(400_000)).toThrow(/belong to user 200001, .* Set SITEWRIGHT_FIRST_USER_ID to what it was/);
    expect(start(200_000)).toEqual([]);
  });

  it("is not refused if only some sites have users beyond the range, but reports them", () => {
    makeSite(200_001);
    makeSite(300_001);
    expect(start(200_000)).toEqual([expect.stringContaining("belong to user 300001")]);
  });

  it("accepts sites that root made without users", () => {
    makeSite(0);
    expect(start(400_000)).toEqual([]);
  });
});

describe("another installation on the machine", () => {
  /** A running process as the system shows it. */
  const runProcess = (pid: number, user: number, folder: string) => {
    const place = join(root, "proc", String(pid));
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "status"), `Name:\tnode\nUid:\t${user}\t${user}\t${user}\t${user}\n`);
    symlinkSync(folder, join(place, "cwd"));
  };
  const found = () => foreignSite({ firstUserId: 200_000, environments }, join(root, "proc"));

  it("is noticed by its PHP if it has the same users", () => {
    runProcess(1, 0, "/");
    runProcess(2, 200_001, join(environments, "own"));
    runProcess(3, 200_002, "/tmp");
    runProcess(4, 400_001, "/srv/other/environments/far");
    expect(found()).toBeNull();
    runProcess(5, 200_001, "/srv/other/environments/near");
    expect(found()).toBe("/srv/other/environments/near");
  });

  it("is not noticed where the system shows no processes", () => {
    expect(found()).toBeNull();
  });
});
