// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.client.Isolde;
import io.isolde.client.Watch;
import io.isolde.client.WatchListener;
import io.isolde.system.Await;
import java.util.ArrayList;
import java.util.Collections;
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
  private final Heard groups = new Heard();
  private final Heard keyspace = new Heard();
  private final Heard ring = new Heard();
  private final List<Watch> watches = new ArrayList<>();

  /** What one watch reports. */
  private static final class Heard implements WatchListener {
    private final List<Long> timestamps = Collections.synchronizedList(new ArrayList<>());
    private final List<String> others = Collections.synchronizedList(new ArrayList<>());

    @Override
    public void changed(long commitTimestamp) {
      timestamps.add(commitTimestamp);
    }

    @Override
    public void lost(long position) {
      others.add("lost up to " + position);
    }

    @Override
    public void failed(Throwable failure) {
      others.add("failed: " + failure);
    }
  }

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
    for (Heard heard : List.of(groups, keyspace, ring)) {
      heard.timestamps.removeIf(timestamp -> timestamp > end.position);
      assertThat(heard.others).isEmpty();
      assertThat(heard.timestamps).containsExactlyElementsOf(new TreeSet<>(heard.timestamps));
      assertThat(groups.timestamps).containsAll(heard.timestamps);
    }
    assertThat(groups.timestamps).hasSize((int) (end.version - from));
    assertThat(ring.timestamps).isNotEmpty();
    assertThat(keyspace.timestamps).hasSizeGreaterThan(ring.timestamps.size());
    assertThat(groups.timestamps).hasSizeGreaterThan(keyspace.timestamps.size());
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
