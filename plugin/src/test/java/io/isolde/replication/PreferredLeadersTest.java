// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.CompactionPermit;
import io.isolde.group.Layout;
import io.isolde.group.MemberLoad;
import io.isolde.group.NodeLoad;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.replication.StepAside.HandedOver;
import io.isolde.testing.CassandraInProcess;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.locator.AbstractNetworkTopologySnitch;
import org.apache.cassandra.locator.IEndpointSnitch;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.service.ClientWarn;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Nodes 127.0.97.1 to .3 are in the east, others in the west. */
class PreferredLeadersTest {
  private static final Layout.Group GROUP =
      new Layout.Group(0, List.of(node("c", 3), node("a", 1), node("b", 2), node("w", 9)));

  private static final Layout LAYOUT = new Layout(List.of(GROUP), List.of(new Layout.Range(0, 0)));

  private static IEndpointSnitch before;

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    before = DatabaseDescriptor.getEndpointSnitch();
    DatabaseDescriptor.setEndpointSnitch(
        new AbstractNetworkTopologySnitch() {
          @Override
          public String getDatacenter(InetAddressAndPort node) {
            return node.getHostAddress(false).matches("127\\.0\\.97\\.[1-3]") ? "east" : "west";
          }

          @Override
          public String getRack(InetAddressAndPort node) {
            return "r";
          }
        });
  }

  @AfterAll
  static void stop() {
    DatabaseDescriptor.setEndpointSnitch(before);
  }

  private static Layout.Member node(String id, int number) {
    return new Layout.Member(id, "127.0.97." + number + ":7000");
  }

  private static Peer peer(String id, int number) {
    return new Peer(id, new InetSocketAddress("127.0.97." + number, 7312));
  }

  /** The layout keeps the id of the other until replicas are moved. */
  @Test
  void whenANodeHasTakenThePlaceOfAnotherThenItIsWantedAsLeaderAllTheSame() {
    List<Peer> members = List.of(peer("new", 3), peer("a", 1), peer("w", 9));
    assertThat(NodeLocations.whereLeadersAreWanted(Optional.of("east"), GROUP, members))
        .containsExactly(peer("new", 3), peer("a", 1));
    assertThat(NodeLocations.whereLeadersAreWanted(Optional.of("west"), GROUP, members))
        .containsExactly(peer("w", 9));
    assertThat(NodeLocations.whereLeadersAreWanted(Optional.empty(), GROUP, members)).isEmpty();
  }

  @Test
  void whenMembersAreKnownToTheLayoutThenTheyComeInItsOrderAndOthersLast() {
    List<Peer> members = List.of(peer("b", 2), peer("c", 3), peer("moved", 1));
    Layout.Group older = new Layout.Group(0, List.of(node("c", 3), node("b", 2), node("w", 9)));
    assertThat(NodeLocations.whereLeadersAreWanted(Optional.of("east"), older, members))
        .containsExactly(peer("c", 3), peer("b", 2), peer("moved", 1));
  }

  @Test
  void whenAMemberOfManyGroupsIsSilentThenTheOthersAnswersAreThereInTheTimeOfOne() {
    Map<UUID, List<CompletableFuture<MemberLoad>>> asked = new HashMap<>();
    MemberLoad load =
        new MemberLoad("b", new NodeLoad(0, CompactionPermit.State.IDLE, 0, false), 0);
    CompletableFuture<MemberLoad> failed =
        CompletableFuture.failedFuture(new IllegalStateException("closed"));
    for (int i = 0; i < 100; i++) {
      asked.put(
          new UUID(0, i),
          List.of(new CompletableFuture<>(), failed, CompletableFuture.completedFuture(load)));
    }
    long startNanos = System.nanoTime();
    assertThat(CoReplicas.answers(asked))
        .hasSize(100)
        .allSatisfy((group, answers) -> assertThat(answers).containsExactly(load));
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos))
        .isLessThan(30 * CoReplicas.ASK_MILLIS);
  }

  @Test
  void whenATransferFailsThenItIsRefusedOnlyIfNothingWaitedForIt() {
    GroupFailure changing = new GroupFailure(GroupFailure.Reason.NOT_LEADER, "Members change.");
    GroupFailure unknown = new GroupFailure(GroupFailure.Reason.UNKNOWN, "No answer.");
    assertThat(StepAside.failed(changing, 5)).isEqualTo(HandedOver.REFUSED);
    assertThat(StepAside.failed(changing, 3_000)).isEqualTo(HandedOver.FAILED);
    assertThat(StepAside.failed(unknown, 5)).isEqualTo(HandedOver.FAILED);
    assertThat(StepAside.failed(null, 6_000)).isEqualTo(HandedOver.FAILED);
  }

  @Test
  void whenANodeElsewhereIsToLeadThenTheClientIsWarned() {
    StrongKeyspace keyspace = keyspace(Map.of("replication_factor", "4", "leaders", "east"));
    ClientWarn.instance.captureWarnings();
    try {
      assertThat(PreferredLeaders.warnIfElsewhere(keyspace, "127.0.97.3")).isFalse();
      StrongKeyspace anywhere = keyspace(Map.of("replication_factor", "4"));
      assertThat(PreferredLeaders.warnIfElsewhere(anywhere, "127.0.97.9")).isFalse();
      assertThat(ClientWarn.instance.getWarnings()).isNull();
      assertThat(PreferredLeaders.warnIfElsewhere(keyspace, "127.0.97.9")).isTrue();
      assertThat(ClientWarn.instance.getWarnings())
          .singleElement()
          .asString()
          .contains("127.0.97.9 is not in datacenter 'east', where k wants its leaders");
    } finally {
      ClientWarn.instance.resetWarnings();
    }
  }

  private static StrongKeyspace keyspace(Map<String, String> given) {
    return new StrongKeyspace(
        "k", KeyspaceOptions.parse(KeyspaceOptions.made(given, LAYOUT)), 7312, () -> null);
  }
}
