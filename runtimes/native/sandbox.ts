/**
 * The sandbox in which an environment's PHP runs, by bubblewrap: its own users' processes, files, hosts' names and shared
 * memory, and no program of its own that gains privileges. It sees the system's programs, read-only, and the folders that it is
 * given; nothing else of the machine exists for it.
 *
 * - If this process is root, bubblewrap mounts as root, because folders above an environment are closed to its user. The command
 *   then changes to that user and gives up all capabilities.
 * - Otherwise bubblewrap makes a user namespace, and the command runs as this process's user.
 */

export interface Mount {
  /** Absolute path on the host, without symbolic links. */
  readonly from: string;
  /** Path in the sandbox. */
  readonly to: string;
  readonly isWritable: boolean;
}

export interface Sandbox {
  /** User and group of the processes, if this process is root. */
  readonly user: number;
  /** Folder with the system whose `/usr` the processes see; `/` is the machine's own. */
  readonly root: string;
  /** In this order: later ones may lie in earlier ones. */
  readonly mounts: readonly Mount[];
  /** Empty folders in memory, which only this sandbox sees. */
  readonly memoryFolders: readonly string[];
  /** Whether there is no network at all. */
  readonly isOffline: boolean;
}

/** Links of a system whose programs are all in `/usr`. */
const links = [
  ["usr/bin", "/bin"],
  ["usr/sbin", "/sbin"],
  ["usr/lib", "/lib"],
  ["usr/lib64", "/lib64"],
];

/** What programs read from the system's settings: certificates, names of hosts, and where PHP's extensions are. */
const settings = ["/etc/ssl", "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/localtime", "/etc/php"];

const isRoot = () => process.getuid?.() === 0;

/** The command that runs `command` in the sandbox; when its process is killed, everything in the sandbox is. */
export function sandboxed(sandbox: Sandbox, command: readonly string[]): readonly string[] {
  return ["bwrap", ...optionsOf(sandbox), "--", ...(isRoot() ? [...becoming(sandbox.user), ...command] : command)];
}

const namespaces = "--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try".split(" ");
const keptPrivileges = "--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP".split(" ");

function optionsOf({ root, mounts, memoryFolders, isOffline }: Sandbox): readonly string[] {
  const base = root === "/" ? "" : root;
  return [
    ...namespaces,
    ...(isRoot() ? keptPrivileges : ["--unshare-user"]),
    ...(isOffline ? ["--unshare-net"] : []),
    ...["--die-with-parent", "--new-session", "--hostname", "localhost"],
    ...["--clearenv", "--setenv", "PATH", "/usr/sbin:/usr/bin"],
    ...["--ro-bind", `${base}/usr`, "/usr", "--proc", "/proc", "--dev", "/dev"],
    ...links.flatMap(([target = "", link = ""]) => ["--symlink", target, link]),
    // bubblewrap closes folders that it makes for mounts to other users.
    ...["/etc", "/run"].flatMap((folder) => ["--perms", "0755", "--dir", folder]),
    ...settings.flatMap((file) => ["--ro-bind-try", `${base}${file}`, file]),
    ...memoryFolders.flatMap((folder) => ["--perms", "1777", "--tmpfs", folder]),
    ...mounts.flatMap(({ from, to, isWritable }) => [isWritable ? "--bind" : "--ro-bind", from, to]),
    ...["--chdir", "/"],
  ];
}

/** The beginning of a command that changes to the user for good. */
function becoming(user: number): readonly string[] {
  const privileges = ["--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"];
  return ["setpriv", `--reuid=${user}`, `--regid=${user}`, ...privileges, "--"];
}
