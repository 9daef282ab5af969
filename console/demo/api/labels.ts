/** Labels of sites. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import { record } from "../world/activity.ts";
import { found, Refusal } from "../world/failures.ts";
import { newId } from "../world/ids.ts";
import type { World } from "../world/world.ts";

const labelView = ({ sites }: World, { id, name }: World["labels"][number]) => ({
  ...{ id, name },
  site_count: sites.filter(({ labels, isReady }) => isReady && labels.has(id)).length,
});

const labelOf = ({ labels }: World, labelId: string) => found(labels.find(({ id }) => id === labelId));

function refuseTakenName({ labels }: World, name: string, own: string | null): void {
  const isTaken = labels.some((label) => label.id !== own && label.name.toLowerCase() === name.toLowerCase());
  if (isTaken) throw new Refusal("label_name_taken", `There is already a label with the name “${name}”.`);
}

export const labelCalls = {
  listLabels: (world) =>
    world.labels.map((label) => labelView(world, label)).sort((one, other) => one.name.localeCompare(other.name)),
  createLabel: (world, { body: { name } }) => {
    refuseTakenName(world, name, null);
    const label = { id: newId(), name };
    world.labels.push(label);
    record(world, { type: "createLabel", text: `Add the label “${name}”` });
    return labelView(world, label);
  },
  renameLabel: (world, { params, body: { name } }) => {
    const label = labelOf(world, params.label_id);
    refuseTakenName(world, name, label.id);
    record(world, { type: "renameLabel", text: `Rename the label “${label.name}” to “${name}”` });
    label.name = name;
    return labelView(world, label);
  },
  deleteLabel: (world, { params }) => {
    const label = labelOf(world, params.label_id);
    const view = labelView(world, label);
    world.labels.splice(world.labels.indexOf(label), 1);
    for (const { labels } of world.sites) labels.delete(label.id);
    record(world, { type: "deleteLabel", text: `Delete the label “${label.name}”` });
    return view;
  },
  assignLabel: (world, { params, body: { add = [], remove = [] } }) => {
    const label = labelOf(world, params.label_id);
    const unknown = [...add, ...remove].filter((id) => !world.sites.some((site) => site.id === id));
    if (unknown.length > 0) throw new Refusal("unknown_site", "There is no site with one of these ids.", { unknown });
    for (const { id, labels } of world.sites) {
      if (add.includes(id)) labels.add(label.id);
      if (remove.includes(id)) labels.delete(label.id);
    }
    record(world, { type: "assignLabel", text: `Change the sites with the label “${label.name}”` });
    return labelView(world, label);
  },
} satisfies Partial<Calls<World>>;
