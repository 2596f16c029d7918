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

  private WatchedConfiguration(StrongCluster nodes, String keyspaceName) {
    session = nodes.connect();
    isolde = Isolde.on(session);
    long version;
    long position;
    do { // Until nothing has changed between.
      version = isolde.configuration().version();
      position = now();
    } while (isolde.configuration().version() != version);
    from = version;
    OptionalLong after = OptionalLong.of(position);
    watches.add(isolde.watch("SELECT CHANGES FROM isolde.groups", List.of(), after, groups));
    watches.add(isolde.watch("SELECT CHANGES FROM isolde.ring", List.of(), after, ring));
    watches.add(
        isolde.watch(
            "SELECT CHANGES FROM isolde.groups WHERE keyspace_name = ? AND group_number = 0",
            List.of(keyspaceName),
            after,
            keyspace));
  }

  static WatchedConfiguration start(StrongCluster nodes, String keyspace) {
    return new WatchedConfiguration(nodes, keyspace);
  }

  /** Also over nodes that were killed. Ends the watches. */
  void checkThatEachVersionWasHeardOf() {
    long versions = isolde.configuration().version() - from;
    long position = now();
    Await.until(
        "the watches are as far",
        () -> watches.stream().allMatch(watch -> watch.position().orElse(0) >= position));
    watches.forEach(Watch::close);
    session.close();
    for (Heard heard : List.of(groups, keyspace, ring)) {
      assertThat(heard.others).isEmpty();
      assertThat(heard.timestamps).containsExactlyElementsOf(new TreeSet<>(heard.timestamps));
      assertThat(groups.timestamps).containsAll(heard.timestamps);
    }
    assertThat(groups.timestamps).hasSize((int) versions);
    assertThat(ring.timestamps).isNotEmpty();
    assertThat(keyspace.timestamps).hasSizeGreaterThan(ring.timestamps.size());
  }

  private long now() {
    return session
        .execute("SELECT CHANGES FROM isolde.ring AFTER NOW WITHIN 0 MILLISECONDS")
        .one()
        .getLong("timestamp");
  }
}
