// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.configuration.ConfigurationReport;
import io.isolde.oracle.configuration.ConfiguredGroup;
import io.isolde.oracle.configuration.Effect;
import io.isolde.oracle.configuration.GroupInfo;
import io.isolde.oracle.configuration.NodeInfo;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.FutureResponse;
import io.isolde.raft.transport.PeerClient;
import io.netty.buffer.ByteBuf;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigurationTest {
  private static final UUID HOST = new UUID(1, 1);
  private static final UUID GROUP = new UUID(2, 1);

  @TempDir Path directory;

  private static Answer.Configured report(OracleClient client, ConfigurationReport report)
      throws Exception {
    return (Answer.Configured) client.execute(new Command.Configure(report)).get();
  }

  private static ConfigurationReport group(UUID id, int ranges) {
    return new ConfigurationReport.RegisterGroup(
        new GroupInfo(
            id,
            "bank",
            0,
            "BATCH",
            Collections.nCopies(ranges, new GroupInfo.Range(1, 2)),
            List.of(HOST)),
        HOST,
        1,
        1);
  }

  @Test
  void whenTheLeaderDiesThenTheNextOneAnswersWithAllThatWasAcknowledged() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      OracleClient client = members.client();
      report(client, group(GROUP, 1));
      for (int term = 2; term < 30; term++) {
        if (term == 15) {
          members.kill(members.leader());
        }
        Answer.Configured answer =
            report(client, new ConfigurationReport.NewLeader(GROUP, new UUID(1, term), term));
        Configuration seen = members.client().configuration().get();
        assertThat(seen.version()).isEqualTo(answer.version()).isEqualTo(term);
        assertThat(seen.group(GROUP).orElseThrow().term()).isEqualTo(term);
      }
      ConfigurationChanges changes = client.configurationChanges(1).get();
      assertThat(changes.isWhole()).isTrue();
      assertThat(changes.version()).isEqualTo(29);
      assertThat(changes.changes()).hasSize(28);
    }
  }

  @Test
  void whenAFollowerHasAVersionThenItAnswersAndNotBefore() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      OracleClient client = members.client();
      long version = report(client, group(GROUP, 1)).version();
      for (Peer follower : members.followers()) {
        assertThat(status(members, follower, version + 1)).isEqualTo(Protocol.NOT_LEADER);
        Members.await("it has it", () -> status(members, follower, version) == Protocol.OK);
      }
    }
  }

  /** How it goes if a member is asked for a version, or a later one. */
  private static byte status(Members members, Peer member, long atLeast) {
    try (PeerClient connection = members.connect(member.address(), () -> {}).join()) {
      FutureResponse<Byte> status = new FutureResponse<>(ByteBuf::readByte);
      connection.send(
          Protocol.SERVICE,
          new ConfigurationQuestion(false, atLeast, 0).writeTo(Wire.of(Protocol.CONFIGURATION)),
          status);
      return status.join();
    }
  }

  @Test
  void whenANodesSessionOpensThenItIsUp() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      OracleClient client = members.client();
      report(
          client,
          new ConfigurationReport.RegisterNode(
              new NodeInfo(HOST, "10.0.0.1", "10.0.0.1:9042", "dc", "r"), 1));
      report(client, group(GROUP, 1));
      assertThat(stateOfGroup(client)).isEqualTo(ConfiguredGroup.State.LEADER_DOWN);
      try (CoordinatorSession session = members.session(HOST)) {
        assertThat(session.isOpen()).isTrue();
        assertThat(stateOfGroup(client)).isEqualTo(ConfiguredGroup.State.LED);
      }
      Members.await("its lease is over", () -> !isUp(client));
    }
  }

  private static ConfiguredGroup.State stateOfGroup(OracleClient client) throws Exception {
    Configuration now = client.configuration().get();
    return now.stateOf(now.group(GROUP).orElseThrow());
  }

  private static boolean isUp(OracleClient client) {
    return client.configuration().join().node(HOST).orElseThrow().isUp();
  }

  @Test
  void whenTheConfigurationTakesManyPagesThenTheyAreOfOneVersion() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      OracleClient client = members.client();
      List<UUID> ids = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        ids.add(new UUID(2, i));
        assertThat(report(client, group(ids.get(i), 10_000)).effect()).isEqualTo(Effect.CHANGED);
      }
      Configuration all = client.configuration().get();
      assertThat(all.groups()).extracting(group -> group.info().id()).isEqualTo(ids);
      assertThat(all.version()).isEqualTo(40);
      ConfigurationChanges changes = client.configurationChanges(0).get();
      assertThat(changes.isWhole()).isFalse();
      assertThat(changes.changes()).hasSizeGreaterThan(10);
    }
  }
}
