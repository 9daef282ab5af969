import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const folder = (path: string, children: readonly unknown[] = []) => ({ ...file(path), children });
const file = (path: string) => ({ name: path.split("/").at(-1) ?? "", path });

const test = useTestServer({
  listFiles: async () => [
    { name: "index.php", path: "/index.php" },
    {
      name: "wp-content",
      path: "/wp-content",
      children: [
        {
          name: "themes",
          path: "/wp-content/themes",
          children: [
            {
              name: "a",
              path: "/wp-content/themes/a",
              children: [{ name: "style.css", path: "/wp-content/themes/a/style.css" }],
            },
          ],
        },
      ],
    },
  ],
});

async function listed(query = "") {
  const { addSiteWithEnvironment, call } = test.current;
  const { id } = await addSiteWithEnvironment();
  return call("GET", `/v2/sites/environments/${id}/file-list${query}`);
}

describe("GET /sites/environments/{env_id}/file-list", () => {
  it("shows three levels of files and folders", async () => {
    const answer = await listed();
    expect(answer.status).toBe(200);
    expect(answer.body.environment.file_list).toMatchObject([
      { ...folder("/index.php"), is_folder: false },
      folder("/wp-content", [folder("/wp-content/themes", [{ ...file("/wp-content/themes/a"), is_folder: true }])]),
    ]);
    expect(answer.text).not.toContain("style.css");
  });

  it("starts at `path`", async () => {
    const answer = await listed("?path=/wp-content/themes/");
    expect(answer.body.environment.file_list).toMatchObject([
      folder("/wp-content/themes/a", [{ ...folder("/wp-content/themes/a/style.css"), is_folder: false }]),
    ]);
  });

  it.each(["/nowhere", "/index.php", "/wp-content/..", "../../etc"])("answers 404 for %s", async (path) => {
    expect((await listed(`?path=${encodeURIComponent(path)}`)).status).toBe(404);
  });
});
