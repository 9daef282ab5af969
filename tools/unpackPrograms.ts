/**
 * Installs Debian packages without root: downloads them with their missing dependencies and unpacks them into a folder.
 * They expect to be in `/usr`, so each program is started by a script that sets the paths of its files.
 */
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packagesOf, programs, type Requirement, theme } from "./programs.ts";

interface LaunchOptions {
  /** File to run, if it is not the program of that name. */
  readonly file?: string;
  /** Additional arguments. */
  readonly parameters?: string;
  /** Set if the program can't handle spaces in paths. */
  readonly needsPathWithoutSpaces?: boolean;
}

const launchOptions: Record<string, LaunchOptions> = {
  // Debian's `/usr/bin/chromium` is a script with absolute paths.
  chromium: { file: "usr/lib/chromium/chromium" },
  mariadbd: { parameters: '--basedir="$root/usr"' },
  "mariadb-install-db": { parameters: '--basedir="$root/usr"', needsPathWithoutSpaces: true },
  pdns_server: { parameters: '--module-dir="$(echo "$root"/usr/lib/*/pdns)"' },
};

const settings = `export GIT_EXEC_PATH="$root/usr/lib/git-core" GIT_TEMPLATE_DIR="$root/usr/share/git-core/templates"
export OPENSSL_CONF="$root/etc/ssl/openssl.cnf" FONTCONFIG_FILE="$root/fonts.conf"`;

const pathWithoutSpaces = `link="$(mktemp -d)"
trap 'rm -r "$link"' EXIT
ln -s "$root" "$link/root"
root="$link/root"`;

const fonts = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir prefix="relative">usr/share/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/**
 * Creates `folder` with `bin/` and `root/` atomically. After an interruption, reuses finished downloads. Only one
 * process may run this at a time. Throws if a package can't be downloaded; apt-get's messages go to standard error.
 */
export function unpackPrograms(missing: readonly Requirement[], folder: string): void {
  const [apt, part] = [join(dirname(folder), "apt"), `${folder}.part`];
  download(missing, apt);
  rmSync(part, { recursive: true, force: true });
  const root = join(part, "root");
  mkdirSync(root, { recursive: true });
  for (const file of globSync("{archives,alone}/*.deb", { cwd: apt })) run("dpkg-deb", ["-x", join(apt, file), root]);
  writeFileSync(join(root, "fonts.conf"), fonts);
  writeLaunchers(missing, part);
  renameSync(part, folder);
  rmSync(apt, { recursive: true, force: true });
}

function download(missing: readonly Requirement[], apt: string): void {
  const alone = join(apt, "alone");
  for (const name of ["lists/partial", "archives/partial", "alone"]) mkdirSync(join(apt, name), { recursive: true });
  const paths = [`Dir::State=${apt}`, "Dir::State::status=/var/lib/dpkg/status", `Dir::Cache=${apt}`];
  const options = ["--quiet=2", ...[...paths, "Debug::NoLocking=1"].flatMap((option) => ["-o", option])];
  run("apt-get", [...options, "update"]);
  const wanted = packagesOf(missing.filter((requirement) => requirement !== theme));
  if (wanted.length > 0) {
    run("apt-get", [...options, "install", "--download-only", "--yes", "--no-install-recommends", ...wanted]);
  }
  // Without its dependencies, which are WordPress and a web server.
  if (missing.includes(theme)) run("apt-get", [...options, "download", ...theme.packages], alone);
}

function run(command: string, parameters: readonly string[], cwd?: string): void {
  execFileSync(command, parameters, { cwd, stdio: ["ignore", process.stderr, process.stderr] });
}

function writeLaunchers(missing: readonly Requirement[], part: string): void {
  const root = join(part, "root");
  const bin = join(part, "bin");
  mkdirSync(bin);
  const files = globSync("{usr/,}lib/*-linux-gnu*/{,*/}lib*.so*", { cwd: root });
  const libraries = [...new Set(files.map((file) => `$root/${dirname(file)}`))].join(":");
  for (const requirement of missing.filter((one) => programs.includes(one))) {
    const { name } = requirement;
    const {
      file = fileOf(root, requirement),
      parameters = "",
      needsPathWithoutSpaces = false,
    } = launchOptions[name] ?? {};
    const command = `"$root/${file}" "$@" ${parameters}`;
    const lines = [
      "#!/bin/sh",
      'root="$(dirname "$(dirname "$0")")/root"',
      ...(needsPathWithoutSpaces ? [pathWithoutSpaces] : []),
      `export LD_LIBRARY_PATH="${libraries}"`,
      settings,
      needsPathWithoutSpaces ? command : `exec ${command}`,
    ];
    writeFileSync(join(bin, name), `${lines.join("\n")}\n`, { mode: 0o755 });
  }
}

/** Path of the program relative to the root. */
function fileOf(root: string, { name, alternatives = [] }: Requirement): string {
  const folders = ["usr/bin", "usr/sbin", "bin", "sbin"];
  const files = [name, ...alternatives].flatMap((command) => folders.map((folder) => ({ folder, command })));
  const found = files.find(({ folder, command }) => has(join(root, folder), command));
  if (found === undefined) throw new Error(`No package contains ${name}.`);
  return `${found.folder}/${found.command}`;
}

function has(folder: string, name: string): boolean {
  try {
    return readdirSync(folder).includes(name);
  } catch {
    return false;
  }
}
