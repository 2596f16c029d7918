// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.client.Isolde;
import io.isolde.client.Watch;
import io.isolde.system.Await;
import io.isolde.system.HeardChanges;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeSet;

/** Watches of nodes and groups, from one version of the configuration on. */
final class WatchedConfiguration {
  /** Members are not later than the log; positions are those of any member. */
  private static final long LONGER_THAN_THE_LOG_MILLIS = 1_000;

  private final CqlSession session;
  private final Isolde isolde;
  private final long from;
  private final HeardChanges groups = new HeardChanges();
  private final HeardChanges keyspace = new HeardChanges();
  private final HeardChanges ring = new HeardChanges();
  private final List<Watch> watches = new ArrayList<>();

  private WatchedConfiguration(StrongCluster nodes, String keyspaceName)
      throws InterruptedException {
    session = nodes.connect();
    isolde = Isolde.on(session);
    Point begin = now();
    from = begin.version;
    OptionalLong after = OptionalLong.of(begin.position);
    watches.add(isolde.watch("SELECT CHANGES FROM isolde.groups", List.of(), after, groups));
    watches.add(isolde.watch("SELECT CHANGES FROM isolde.ring", List.of(), after, ring));
    watches.add(
        isolde.watch(
            "SELECT CHANGES FROM isolde.groups WHERE keyspace_name = ? AND group_number = 0",
            List.of(keyspaceName),
            after,
            keyspace));
  }

  static WatchedConfiguration start(StrongCluster nodes, String keyspace)
      throws InterruptedException {
    return new WatchedConfiguration(nodes, keyspace);
  }

  /** Also over nodes that were killed. Ends the watches. */
  void checkThatEachVersionWasHeardOf() throws InterruptedException {
    session.execute(
        "CREATE KEYSPACE unwatched WITH replication = {'class':"
            + " 'io.isolde.replication.ReplicatedLogStrategy', 'replication_factor': 3}");
    Await.until(
        "another keyspace's group has registered",
        () -> isolde.configuration().groupsOf("unwatched").size() == 1);
    Point end = now();
    Await.until(
        "the watches are as far",
        () -> watches.stream().allMatch(watch -> watch.position().orElse(0) >= end.position));
    watches.forEach(Watch::close);
    session.execute("DROP KEYSPACE unwatched");
    session.close();
    for (HeardChanges heard : List.of(groups, keyspace, ring)) {
      heard.commits().removeIf(timestamp -> timestamp > end.position);
      assertThat(heard.others()).isEmpty();
      assertThat(heard.commits()).containsExactlyElementsOf(new TreeSet<>(heard.commits()));
      assertThat(groups.commits()).containsAll(heard.commits());
    }
    assertThat(groups.commits()).hasSize((int) (end.version - from));
    assertThat(ring.commits()).isNotEmpty();
    assertThat(keyspace.commits()).hasSizeGreaterThan(ring.commits().size());
    assertThat(groups.commits()).hasSizeGreaterThan(keyspace.commits().size());
  }

  /** Where a version is in the order of the changes: after it, and before the next one. */
  private record Point(long version, long position) {}

  private Point now() throws InterruptedException {
    while (true) {
      long version = isolde.configuration().version();
      Thread.sleep(LONGER_THAN_THE_LOG_MILLIS);
      long position = position();
      if (isolde.configuration().version() == version) {
        return new Point(version, position);
      }
    }
  }

  private long position() {
    return session
        .execute("SELECT CHANGES FROM isolde.ring AFTER NOW WITHIN 0 MILLISECONDS")
        .one()
        .getLong("timestamp");
  }
}
