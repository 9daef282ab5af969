/**
 * Debian's packages without being root: fetched with everything that they need and the machine lacks, and unpacked into a
 * folder. They expect to lie in `/usr`, so each program is started by a script that tells it where its things are.
 */
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packagesOf, programs, type Requirement, theme } from "./programs.ts";

/** Where a program is, if not in a folder of programs, and what it must be called with. */
const starts: Record<string, { readonly file?: string; readonly parameters?: string }> = {
  // What Debian has in `/usr/bin` is a script with absolute paths.
  chromium: { file: "usr/lib/chromium/chromium" },
  mariadbd: { parameters: '--basedir="$root/usr"' },
  "mariadb-install-db": { parameters: '--basedir="$root/usr"' },
  pdns_server: { parameters: '--module-dir="$(echo "$root"/usr/lib/*/pdns)"' },
};

const settings = `export GIT_EXEC_PATH="$root/usr/lib/git-core" GIT_TEMPLATE_DIR="$root/usr/share/git-core/templates"
export OPENSSL_CONF="$root/etc/ssl/openssl.cnf" FONTCONFIG_FILE="$root/fonts.conf"`;

const fonts = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir prefix="relative">usr/share/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/**
 * Makes `folder` with `bin/` and `root/`. It appears when it is complete. Interrupted, it goes on with what was fetched.
 * One process at a time. Throws where a package can't be fetched; what apt-get says of it is on standard error.
 */
export function unpackPrograms(missing: readonly Requirement[], folder: string): void {
  const [apt, part] = [join(dirname(folder), "apt"), `${folder}.part`];
  fetchPackages(missing, apt);
  rmSync(part, { recursive: true, force: true });
  const root = join(part, "root");
  mkdirSync(root, { recursive: true });
  for (const file of globSync("{archives,alone}/*.deb", { cwd: apt })) run("dpkg-deb", ["-x", join(apt, file), root]);
  writeFileSync(join(root, "fonts.conf"), fonts);
  writeStarters(missing, part);
  renameSync(part, folder);
  rmSync(apt, { recursive: true, force: true });
}

/** The theme's package would bring WordPress and a web server: it is fetched alone. */
function fetchPackages(missing: readonly Requirement[], apt: string): void {
  const alone = join(apt, "alone");
  for (const name of ["lists/partial", "archives/partial", "alone"]) mkdirSync(join(apt, name), { recursive: true });
  const places = [`Dir::State=${apt}`, "Dir::State::status=/var/lib/dpkg/status", `Dir::Cache=${apt}`];
  const options = ["--quiet=2", ...[...places, "Debug::NoLocking=1"].flatMap((option) => ["-o", option])];
  run("apt-get", [...options, "update"]);
  const wanted = packagesOf(missing.filter((requirement) => requirement !== theme));
  run("apt-get", [...options, "install", "--download-only", "--yes", "--no-install-recommends", ...wanted]);
  if (missing.includes(theme)) run("apt-get", [...options, "download", ...theme.packages], alone);
}

function run(command: string, parameters: readonly string[], cwd?: string): void {
  execFileSync(command, parameters, { cwd, stdio: ["ignore", process.stderr, process.stderr] });
}

function writeStarters(missing: readonly Requirement[], part: string): void {
  const root = join(part, "root");
  const bin = join(part, "bin");
  mkdirSync(bin);
  const libraries = globSync("{usr/,}lib/*-linux-gnu*/{,*/}lib*.so*", { cwd: root }).map(
    (file) => `$root/${dirname(file)}`,
  );
  for (const { name } of missing.filter((requirement) => programs.includes(requirement))) {
    const { file = found(root, name), parameters = "" } = starts[name] ?? {};
    const lines = [
      "#!/bin/sh",
      'root="$(dirname "$(dirname "$0")")/root"',
      `export LD_LIBRARY_PATH="${[...new Set(libraries)].join(":")}"`,
      settings,
      `exec "$root/${file}" "$@" ${parameters}`,
    ];
    writeFileSync(join(bin, name), `${lines.join("\n")}\n`, { mode: 0o755 });
  }
}

/** Relative to the root. */
function found(root: string, name: string): string {
  const [file] = ["usr/bin", "usr/sbin", "bin", "sbin"].filter((folder) => has(join(root, folder), name));
  if (file === undefined) throw new Error(`No package has brought ${name}.`);
  return `${file}/${name}`;
}

function has(folder: string, name: string): boolean {
  try {
    return readdirSync(folder).includes(name);
  } catch {
    return false;
  }
}
