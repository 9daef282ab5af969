/**
 * The sandbox in which an environment's PHP runs, by bubblewrap. Its processes see no others, have their own host name and shared
 * memory, and can't gain privileges. They see the system's programs, a few files of its settings, and the folders that they are
 * given.
 *
 * - If this process is root, bubblewrap mounts as root, because folders above an environment are closed to its user. The command
 *   then changes to that user and gives up all capabilities.
 * - Otherwise bubblewrap makes a user namespace, in which the command has that user's number.
 *
 * bubblewrap runs in bubblewrap. Shared code is mounted in folders that scripts change, also while another sandbox of the environment is
 * made. There, a symbolic link could lead bubblewrap out of the sandbox: it still sees the whole machine while it mounts. So the outer
 * one makes everything but those mounts, in places that scripts can't change. The inner one sees only that sandbox, so links can't
 * lead out of it.
 *
 * In both cases, a filter refuses the system calls that PHP does not need.
 */
import path from "node:path";
import type { EnvironmentLimits } from "../processor/environments.ts";
import { fileInRoot } from "./rootPath.ts";
import { systemCallFilter } from "./systemCalls.ts";

export interface Mount {
  /** Absolute path on the host, without symbolic links. */
  readonly from: string;
  /** Path in the sandbox. */
  readonly to: string;
  readonly isWritable: boolean;
}

/** A folder in which the sandbox's changes are kept apart from the folder below, which stays as it is (overlayfs). Needs root. */
export interface Layer {
  /** Folder of this machine that has `below`, `changes`, `work` and `above`: folders, or links to folders. */
  readonly folder: string;
}

/** Of all sandboxes of an environment together. */
export interface SandboxLimits extends EnvironmentLimits {
  /** The largest file that can be written, or null: as large as the disk allows. */
  readonly fileBytes: number | null;
}

export interface Sandbox {
  /** Mounts `above`: the content of `below` with the changes in `changes`. Absent: none. */
  readonly layer?: Layer;
  /** User and group of the processes. If this process is not root, its own have this number in the sandbox. */
  readonly user: number;
  /** Folder with the system whose `/usr` the processes see, and its settings of PHP; `/` is the machine's own. */
  readonly root: string;
  /** In this order: later ones may lie in earlier ones. */
  readonly mounts: readonly Mount[];
  /** Empty folders in memory, which only this sandbox sees. */
  readonly memoryFolders: readonly { readonly path: string; readonly maxBytes: number }[];
  /** Environment variables in addition to PATH. Absent: none. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The working folder. Absent: `/`. */
  readonly workingFolder?: string;
  /** Null: only those of all sandboxes. */
  readonly limits: SandboxLimits | null;
  /** Whether there is no network at all. Otherwise it is the machine's whole network, addresses of this machine included. */
  readonly isOffline: boolean;
}

/** Links of a system whose programs are all in `/usr`. */
const links = [
  ["usr/bin", "/bin"],
  ["usr/sbin", "/sbin"],
  ["usr/lib", "/lib"],
  ["usr/lib64", "/lib64"],
];

/**
 * Files that belong to the programs in `/usr`: settings of PHP, OpenSSL and ImageMagick, and the names of alternatives. Remi's PHP is
 * in `/opt`.
 */
const systemFiles = [
  ...["/etc/php", "/etc/php.ini", "/etc/php.d", "/etc/opt/remi", "/opt/remi"],
  ...["/etc/alternatives", "/etc/ssl/openssl.cnf", "/etc/ImageMagick-6", "/etc/ImageMagick-7"],
];

/** What the machine decides for all of them: which certificates are trusted, names of hosts, and the time zone. */
const machineFiles = ["/etc/ssl/certs", "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/localtime"];

/** Folder in the sandbox with what one bubblewrap mounts for the other. */
const preparedFolder = "/run/prepared";

const isRoot = () => process.getuid?.() === 0;

/** The descriptor from which bubblewrap reads the filter of system calls (`systemCallFilter`), if this machine has one. */
export const filterDescriptor = 3;

/**
 * The command that runs `command` in the sandbox; when its process is killed, everything in the sandbox is. `asRoot`: whether root
 * starts it. It needs `filterDescriptor`: use `spawnSandboxed`.
 */
export function sandboxed(sandbox: Sandbox, command: readonly string[], asRoot = isRoot()): readonly string[] {
  const { user } = sandbox;
  const filter = systemCallFilter() === null ? [] : ["--seccomp", String(filterDescriptor)];
  const inner = [...(asRoot ? kept(setterPrivileges) : asUser(user)), ...innerMounts(sandbox), ...filter];
  const outer = [...(asRoot ? kept(mounterPrivileges) : asUserRoot), ...outerOptions(sandbox)];
  const layer = sandbox.layer ? mountingLayer(sandbox.layer) : [];
  const inside = [...(asRoot ? becoming(user) : []), ...command];
  return [...layer, "bwrap", ...outer, "--", "bwrap", ...inner, "--", ...inside];
}

/** The beginning of a command that mounts a layer, which vanishes with the command. */
function mountingLayer({ folder }: Layer): readonly string[] {
  const mount =
    'cd "$0" && mount -t overlay overlay -o lowerdir=below,upperdir=changes,workdir=work above && exec "$@"';
  return ["unshare", "--mount", "--propagation", "private", "sh", "-c", mount, folder];
}

const namespaces = "--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try".split(" ");

const setterPrivileges = ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"];
const mounterPrivileges = ["CAP_SYS_ADMIN", "CAP_DAC_READ_SEARCH", ...setterPrivileges];

const kept = (privileges: readonly string[]) =>
  ["--cap-drop", "ALL"].concat(privileges.flatMap((name) => ["--cap-add", name]));

/** This user is root of a namespace. */
const asUserRoot = ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL"];

const asUser = (user: number): readonly string[] => [
  ...["--unshare-user", "--uid", String(user), "--gid", String(user), "--disable-userns"],
  ...["--cap-drop", "ALL"],
];

const isInside = ({ to }: Mount, mounts: readonly Mount[]): boolean =>
  mounts.some((other) => to.startsWith(`${other.to}/`));

const usrFolder = `${preparedFolder}/usr`;

function outerOptions({ root, mounts, memoryFolders, isOffline }: Sandbox): readonly string[] {
  const usr = fileInRoot(root, "/usr");
  if (usr === null) throw new Error(`There is no folder usr in ${root}.`);
  const bind = ({ from, to, isWritable }: Mount) => [isWritable ? "--bind" : "--ro-bind", from, to];
  return [
    ...namespaces,
    ...(isOffline ? ["--unshare-net"] : []),
    ...["--die-with-parent", "--new-session", "--hostname", "localhost"],
    ...["--clearenv", "--setenv", "PATH", "/usr/sbin:/usr/bin"],
    // The inner bubblewrap is the machine's.
    ...["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"],
    ...links.flatMap(([target = "", link = ""]) => ["--symlink", target, link]),
    // bubblewrap closes folders that it makes for mounts to other users. The inner one needs `/tmp`.
    ...["/etc", "/run", "/tmp"].flatMap((folder) => ["--perms", "0755", "--dir", folder]),
    ...(root === "/" ? [] : ["--ro-bind", usr, usrFolder]),
    ...settingsOf(root).flatMap(({ from, to }) => [
      ...["--perms", "0755", "--dir", path.dirname(to)],
      ...["--ro-bind-try", from, to],
    ]),
    ...memoryFolders.flatMap(({ path, maxBytes }) => ["--perms", "1777", "--size", String(maxBytes), "--tmpfs", path]),
    ...mounts.flatMap((mount, index) => bind(isInside(mount, mounts) ? { ...mount, to: preparedPlace(index) } : mount)),
    ...["--chdir", "/"],
  ];
}

function settingsOf(root: string): readonly Omit<Mount, "isWritable">[] {
  const all = [...systemFiles.map((to) => ({ base: root, to })), ...machineFiles.map((to) => ({ base: "/", to }))];
  return all.flatMap(({ base, to }) => {
    const from = fileInRoot(base, to);
    return from === null ? [] : [{ from, to }];
  });
}

/** Where the outer bubblewrap mounts what the inner one mounts in folders that scripts change. */
const preparedPlace = (index: number): string => `${preparedFolder}/${index}`;

function innerMounts({ root, mounts, variables = {}, workingFolder = "/" }: Sandbox): readonly string[] {
  const inside = mounts.flatMap((mount, index) =>
    isInside(mount, mounts) ? [mount.isWritable ? "--bind" : "--ro-bind", preparedPlace(index), mount.to] : [],
  );
  return [
    ...["--dev-bind", "/", "/", ...(root === "/" ? [] : ["--ro-bind", usrFolder, "/usr"]), ...inside],
    // Otherwise scripts could change the names of their processes, and what php-fpm's master does.
    ...["--remount-ro", "/proc"],
    ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", workingFolder],
  ];
}

/** The beginning of a command that changes to the user for good. */
function becoming(user: number): readonly string[] {
  const privileges = ["--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"];
  return ["setpriv", `--reuid=${user}`, `--regid=${user}`, ...privileges, "--"];
}
