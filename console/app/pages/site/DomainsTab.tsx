import { Badge, Group, Paper, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client.ts";
import { domainsQuery } from "../../api/sites.ts";
import { Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";
import type { TabProps } from "./tabProps.ts";

const at = texts.domains;

/** The names of an environment, and whether they point here. */
export function DomainsTab({ environment }: TabProps) {
  const domains = useQuery(domainsQuery(environment.id));
  return (
    <Loaded query={domains}>
      {(found) => (
        <Paper withBorder p="lg">
          <Stack role="list" aria-label={at.list}>
            {found.map((domain) => (
              <DomainRow key={domain.id} domain={domain} />
            ))}
          </Stack>
        </Paper>
      )}
    </Loaded>
  );
}

function DomainRow({ domain }: { readonly domain: Schemas["SiteDomain"] }) {
  const isTemporary = domain.setup_type === "temporary";
  return (
    <Group justify="space-between" gap="sm" role="listitem">
      <Text style={{ overflowWrap: "anywhere" }}>{domain.name}</Text>
      <Group gap="xs">
        {domain.is_primary && <Badge variant="light">{at.primary}</Badge>}
        {isTemporary && <Badge variant="default">{at.temporary}</Badge>}
        {!isTemporary && domain.needs_proof && <Badge color="yellow">{at.needsProof}</Badge>}
        {!isTemporary && (
          <Badge variant="light" color={domain.points_here ? "green" : "red"}>
            {domain.points_here ? at.verified : at.unverified}
          </Badge>
        )}
      </Group>
    </Group>
  );
}
