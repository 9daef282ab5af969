import { Badge, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type RolloutSummary, rolloutsQuery } from "../../api/fleet.ts";
import { may, useSignedIn } from "../../api/session.ts";
import { dateText } from "../../formats.ts";
import { ButtonLink } from "../../parts/ButtonLink.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";

const at = texts.fleet;

/** Updates of one plugin or theme in many environments. */
export function Rollouts() {
  const session = useSignedIn();
  const seesThem = may(session, "see_rollouts");
  const rollouts = useQuery({ ...rolloutsQuery(session?.company.id ?? ""), enabled: seesThem });
  if (!seesThem) return <Text size="sm">{texts.needs.seeRollouts}</Text>;
  return (
    <Loaded query={rollouts}>
      {(found) =>
        found.length === 0 ? (
          <EmptyState title={at.noRollouts} hint={at.noRolloutsHint} />
        ) : (
          <DataTable label={at.rollouts} columns={[at.name, at.state]} actions={at.show} minWidth={300}>
            {found.map((rollout) => (
              <Table.Tr key={rollout.id}>
                <Table.Td>
                  {rollout.name} {rollout.update_version}
                  <Text size="xs" c="dimmed">
                    {at.began(dateText(rollout.created_at))}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <RolloutState state={rollout.state} />
                  <Text size="xs">{progressText(rollout)}</Text>
                </Table.Td>
                <Table.Td ta="right">
                  <ButtonLink
                    to="/rollouts/$rolloutId"
                    params={{ rolloutId: rollout.id }}
                    variant="default"
                    size="compact-sm"
                    aria-label={at.showNamed(rollout.name)}
                  >
                    {at.show}
                  </ButtonLink>
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )
      }
    </Loaded>
  );
}

const colors = { running: "blue", stopped: "red", cancelled: "gray", ended: "green" } as const;

export function RolloutState({ state }: Pick<RolloutSummary, "state">) {
  return (
    <Badge variant="light" miw="max-content" color={colors[state]}>
      {at.states[state]}
    </Badge>
  );
}

export function progressText({ counts }: Pick<RolloutSummary, "counts">): string {
  const total = counts.waiting + counts.running + counts.updated + counts.failed + counts.skipped;
  return at.counts({ ...counts, total });
}
