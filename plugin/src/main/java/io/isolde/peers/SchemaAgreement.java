// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import java.util.List;
import java.util.Map;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.service.StorageProxy;

/** Whether nodes have the same schema, as they say themselves: what gossip says may be old. */
public final class SchemaAgreement {
  private SchemaAgreement() {}

  /**
   * Asks all nodes that are up, and returns whether all of them have answered and have this node's
   * schema. That may take as long as the time-out of a request. Nodes that have another schema are
   * asked for it, so that there is a point in trying again.
   */
  public static boolean hasBeenReached() {
    Map<String, List<String>> nodesByVersion = StorageProxy.describeSchemaVersions(false);
    String own = Schema.instance.getVersion().toString();
    boolean isReached = true;
    for (Map.Entry<String, List<String>> version : nodesByVersion.entrySet()) {
      if (version.getKey().equals(StorageProxy.UNREACHABLE)) {
        isReached &= version.getValue().stream().noneMatch(Ring::isAlive);
      } else if (!version.getKey().equals(own)) {
        isReached = false;
        version.getValue().forEach(SchemaPull::from);
      }
    }
    return isReached;
  }
}
