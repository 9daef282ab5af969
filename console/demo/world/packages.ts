/** The plugins and themes of the demo's sites. */
import { chanceOf } from "./ids.ts";
import type { InstalledPackage, PackageType } from "./world.ts";

interface KnownPackage {
  readonly type: PackageType;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly older: string;
  readonly newest: string;
  /** The vulnerability of the older version. */
  readonly flaw?: { readonly title: string; readonly cve: string; readonly score: number };
}

/** Invented: no flaw of a real plugin is claimed. */
export const knownPackages: readonly KnownPackage[] = [
  {
    type: "plugin",
    name: "tidy-forms",
    title: "Tidy Forms",
    description: "Contact forms with spam protection.",
    older: "3.4.1",
    newest: "3.4.2",
    flaw: { title: "Tidy Forms < 3.4.2: visitors can read sent forms", cve: "CVE-0000-10001", score: 7.5 },
  },
  {
    type: "plugin",
    name: "corner-shop",
    title: "Corner Shop",
    description: "Sells goods with cart and checkout.",
    older: "9.1.0",
    newest: "9.2.3",
  },
  {
    type: "plugin",
    name: "plain-seo",
    title: "Plain SEO",
    description: "Titles, descriptions and a site map.",
    older: "2.8.0",
    newest: "2.8.0",
  },
  {
    type: "plugin",
    name: "photo-wall",
    title: "Photo Wall",
    description: "Galleries of pictures.",
    older: "1.12.5",
    newest: "1.13.0",
    flaw: { title: "Photo Wall < 1.13.0: editors can upload any file", cve: "CVE-0000-10002", score: 8.8 },
  },
  {
    type: "plugin",
    name: "opening-hours",
    title: "Opening Hours",
    description: "Shows when a shop is open.",
    older: "1.0.4",
    newest: "1.1.0",
  },
  {
    type: "theme",
    name: "harbour",
    title: "Harbour",
    description: "A wide theme with large pictures.",
    older: "4.0",
    newest: "4.1",
  },
  {
    type: "theme",
    name: "plain-paper",
    title: "Plain Paper",
    description: "A quiet theme for texts.",
    older: "2.2",
    newest: "2.3",
  },
];

/** Every site has some of them; new ones have the newest versions. */
export function packagesOf(site: string, isNew = false): InstalledPackage[] {
  const chosen = knownPackages.filter(
    ({ type, name }) => type === "theme" || isNew || chanceOf(`${site} has ${name}`) < 0.7,
  );
  return chosen.map(({ type, name, title, description, older, newest, flaw }) => {
    const isOld = !isNew && older !== newest && chanceOf(`${site} keeps ${name}`) < (flaw === undefined ? 0.4 : 0.15);
    return {
      ...{ type, name, title, description },
      version: isOld ? older : newest,
      isActive: type === "plugin" || name === "plain-paper",
      ...(isOld && { newest }),
      isVulnerable: isOld && flaw !== undefined,
      updateStatus: null,
    };
  });
}

/** Installs the newest version. */
export function update(installed: InstalledPackage): {
  readonly name: string;
  readonly from: string;
  readonly to: string;
} {
  const { name, version: from, newest: to = from } = installed;
  installed.version = to;
  delete installed.newest;
  installed.isVulnerable = false;
  installed.updateStatus = "updated";
  return { name, from, to };
}
