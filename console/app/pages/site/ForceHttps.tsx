import { Group, Select, Text } from "@mantine/core";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { Card } from "../../parts/Card.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";

const at = texts.domains;
const choices = ["DISABLED", "ENABLED_FOR_ALL", "ENABLED_REDIRECT_TO_PRIMARY"] as const;
type Choice = (typeof choices)[number];

const forceHttpsQuery = (environmentId: string) =>
  queryOptions({
    queryKey: ["sites", "force-https", environmentId],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId } };
      const { environment } = await answerOf(
        api.GET("/sites/environments/{env_id}/force-https-status", { params, signal }),
      );
      return environment.force_https_status.type;
    },
  });

/** What happens to requests without TLS. A choice is in force at once. */
export function ForceHttps({ environmentId }: { readonly environmentId: string }) {
  const client = useQueryClient();
  const status = useQuery(forceHttpsQuery(environmentId));
  const isAllowed = mayChange(useSignedIn());
  const change = useMutation({
    mutationFn: (type: Choice) => {
      const params = { path: { env_id: environmentId } };
      return answerOf(api.POST("/sites/environments/{env_id}/force-https-status", { params, body: { type } }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: forceHttpsQuery(environmentId).queryKey }),
  });
  return (
    <Card title={at.https} maxWidth={720}>
      <Loaded query={status}>
        {(type) => (
          <>
            <Select
              label={at.httpsChoice}
              {...(!isAllowed && { description: texts.needsRole })}
              allowDeselect={false}
              disabled={!isAllowed || change.isPending}
              data={choices.map((value) => ({ value, label: at.httpsTypes[value] }))}
              value={type}
              onChange={(value) => {
                const chosen = choices.find((choice) => choice === value);
                if (chosen !== undefined) change.mutate(chosen);
              }}
            />
            <Failure error={change.error} />
            <Group>
              {change.isSuccess && <Text role="status">{at.saved}</Text>}
              <CurlButton
                method="POST"
                path={`/sites/environments/${environmentId}/force-https-status`}
                body={{ type }}
              />
            </Group>
          </>
        )}
      </Loaded>
    </Card>
  );
}
