// SPDX-License-Identifier: Apache-2.0
package io.isolde.configuration;

import io.isolde.oracle.configuration.GroupInfo;
import io.isolde.raft.transport.LogLimit;
import io.isolde.replication.LedGroups;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Groups as they are to be registered; without those that no report takes. */
final class GroupInfos implements Function<UUID, Optional<GroupInfo>> {
  private static final Logger logger = LoggerFactory.getLogger(GroupInfos.class);

  private final LedGroups groups;
  private final LogLimit logLimit;

  GroupInfos(LedGroups groups, LogLimit logLimit) {
    this.groups = groups;
    this.logLimit = logLimit;
  }

  @Override
  public Optional<GroupInfo> apply(UUID id) {
    try {
      return groups.info(id);
    } catch (IllegalArgumentException e) { // The others are reported nevertheless.
      if (logLimit.allows(id)) {
        logger.error("The replica group {} can't be in the configuration of the cluster", id, e);
      }
      return Optional.empty();
    }
  }
}
