/** The files of an environment, as far as the demo has any. */
import type { InstalledPackage } from "../world/world.ts";

interface File {
  readonly name: string;
  readonly path: string;
  readonly is_folder: boolean;
}
interface Folder extends File {
  readonly children: Folder[];
}

const entry = (path: string, isFolder: boolean, children: Folder[] = []): Folder => ({
  name: path.split("/").at(-1) ?? "",
  ...{ path, is_folder: isFolder, children },
});
const file = (path: string): Folder => entry(path, false);

function contentOf(packages: readonly InstalledPackage[]): Folder[] {
  const folders = (["plugin", "theme"] as const).map((type) => {
    const path = `/wp-content/${type}s`;
    const inside = packages.filter((one) => one.type === type).map(({ name }) => entry(`${path}/${name}`, true));
    return entry(path, true, inside);
  });
  const uploads = entry("/wp-content/uploads", true, [file("/wp-content/uploads/terrace.jpg")]);
  return [
    file("/index.php"),
    entry("/wp-admin", true),
    entry("/wp-content", true, [...folders, uploads]),
    file("/wp-config.php"),
  ];
}

function inside(files: readonly Folder[], path: string): Folder[] {
  const next = files.find((one) => path === one.path || path.startsWith(`${one.path}/`));
  if (next === undefined) return [];
  return next.path === path ? next.children : inside(next.children, path);
}

/** Three levels of the files below the path. */
export function filesOf(packages: readonly InstalledPackage[], path: string): Folder[] {
  const all = contentOf(packages);
  return path === "/" || path === "" ? all : inside(all, path.startsWith("/") ? path : `/${path}`);
}
