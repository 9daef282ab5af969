/** WordPress on the machine's PHP, and on one that was extracted from another release of Debian. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ownerOf } from "../../owner.ts";
import { sharedAssets } from "../../playground/testing/world.ts";
import type { AcceptMail } from "../../serving.ts";
import { runPhp, type Site, visitorOf } from "../../testing/visitor.ts";
import { environmentMounts } from "../environmentMounts.ts";
import { sandboxed } from "../sandbox.ts";
import { sandboxOutput } from "../testing/sandboxOutput.ts";
import { twoPhps } from "../testing/twoPhps.ts";
import { type NativeWorld, openNative } from "../testing/world.ts";
import type { PhpInstallation } from "./installation.ts";

let phps: readonly PhpInstallation[];
beforeAll(async () => {
  phps = await twoPhps();
});

test("the two are different versions in different folders", () => {
  expect(new Set(phps.map(({ version }) => version)).size).toBe(2);
  expect(phps.map(({ root }) => root)).toEqual(["/", expect.stringContaining("/.cache/php/suites/")]);
});

describe.each([
  ["of the machine", 0],
  ["that was extracted", 1],
])("PHP %s", (_, index) => {
  let php: PhpInstallation;
  let native: NativeWorld;
  let site: Site;
  const mails: string[] = [];
  const outputOf = (code: string) => runPhp(native.serving, site, code);
  const resultOf = async (code: string): Promise<unknown> => JSON.parse(await outputOf(`echo json_encode( ${code} );`));

  beforeAll(async () => {
    const found = phps[index];
    if (found === undefined) throw new Error("There is no such PHP.");
    php = found;
    const acceptMail: AcceptMail = async (_environment, { message }) => {
      mails.push(message.toString());
      return null;
    };
    native = await openNative({ phpOf: () => php, acceptMail });
    site = await native.site({ title: "Native & <fast>" });
  });
  afterAll(() => native?.close());

  test("renders the front page", async () => {
    const page = await visitorOf(native.serving, site).get("/");
    expect(page.status).toBe(200);
    expect(page.text).toContain("<title>Native &amp; &lt;fast&gt;</title>");
    expect(native.log.filter((line) => /PHP message|WARNING|ERROR/.test(line))).toEqual([]);
  });

  test("is the version that was found, with its extensions", async () => {
    expect(await resultOf("PHP_VERSION")).toBe(php.fullVersion);
    const extensions = await resultOf("array_map( 'strtolower', get_loaded_extensions() )");
    expect(extensions).toEqual(expect.arrayContaining(["pdo_sqlite", "gd", "intl", "zend opcache"]));
  });

  test("stores posts in SQLite", async () => {
    const post = "array( 'post_title' => 'Written', 'post_status' => 'publish' )";
    expect(await outputOf(`require '/site/wp-load.php'; echo wp_insert_post( ${post} );`)).toMatch(/^\d+$/);
    expect((await visitorOf(native.serving, site).get("/")).text).toContain("Written");
  });

  test("keeps compiled scripts", async () => {
    const scripts = "array_keys( opcache_get_status()['scripts'] )";
    await visitorOf(native.serving, site).get("/");
    expect(await resultOf(scripts)).toContain("/site/wp-includes/version.php");
  });

  test("sends mail", async () => {
    expect(await resultOf("mail( 'ada@example.com', 'Hello', 'text' )")).toBe(true);
    expect(mails).toEqual([expect.stringContaining("ada@example.com")]);
  });

  test("knows the certificate authorities that this machine trusts", async () => {
    const count =
      "substr_count( file_get_contents( openssl_get_cert_locations()['default_cert_file'] ), 'BEGIN CERTIFICATE' )";
    expect(await resultOf(`${count} > 50`)).toBe(true);
  });

  test("runs WordPress on the command line", async () => {
    const layout = await native.runtime.layout(site.environment);
    if (layout === null) throw new Error("The environment has no layout.");
    const places = { assets: sharedAssets, environments: native.environments };
    const sandbox = {
      user: ownerOf(site.environment.number),
      root: php.root,
      mounts: environmentMounts({ ...site.environment, ...layout }, places),
      memoryFolders: [],
      limits: null,
      isOffline: true,
    };
    const code = "require '/site/wp-load.php'; echo PHP_SAPI, PHP_VERSION, get_option( 'blogname' );";
    expect(await sandboxOutput(sandboxed(sandbox, [php.php, "-r", code]))).toBe(
      `cli${php.fullVersion}Native &amp; &lt;fast&gt;`,
    );
  });
});

test.runIf(process.getuid?.() === 0)("PHP on a read-only file system serves a site, and runs WP-CLI", async () => {
  const [, php] = phps;
  const place = await mkdtemp(path.join(tmpdir(), "read-only-"));
  onTestFinished(() => rm(place, { recursive: true }));
  // Only the program sees the mount.
  const script =
    'mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" && ! touch "$2/new" 2>/dev/null && exec "$3" "$4" "$2"';
  const program = path.join(import.meta.dirname, "../testing/servedWith.ts");
  const parameters = [php?.root ?? "", place, process.execPath, program];
  const { stdout } = await promisify(execFile)("unshare", ["--mount", "--", "sh", "-c", script, "sh", ...parameters]);
  const version = php?.fullVersion;
  expect(JSON.parse(stdout)).toEqual({ root: place, page: [200, "Served"], version, wpCli: version });
});
