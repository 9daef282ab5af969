/**
 * `npm run --silent sbom`: prints the software bill of materials as CycloneDX: the npm packages that run in production, and the
 * package with WordPress, which is downloaded separately.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { assetPackage } from "@sitewright/runtimes/assets/package.ts";
import * as v from "valibot";

const Sbom = v.looseObject({ components: v.array(v.unknown()) });

const parameters = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"];
const { stdout, stderr } = spawnSync("npm", parameters, {
  cwd: join(import.meta.dirname, ".."),
  encoding: "utf8",
  maxBuffer: 64 << 20,
});
const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Sbom), stdout);
if (parsed.success) {
  const components = [...parsed.output.components, wordpress()];
  process.stdout.write(`${JSON.stringify({ ...parsed.output, components }, null, 2)}\n`);
} else {
  process.stderr.write(`npm printed no bill of materials; it needs npm 9.5 or newer.\n${stderr}`);
  process.exitCode = 1;
}

function wordpress() {
  const { name, version, integrity } = assetPackage;
  const sha512 = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  return {
    "bom-ref": `${name}@${version}`,
    type: "application",
    name,
    version,
    description: "Only its copies of WordPress, WP-CLI and the SQLite driver are used",
    hashes: [{ alg: "SHA-512", content: sha512 }],
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
  };
}
