// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.group.Bootstrap.Reply;
import io.isolde.oracle.group.Bootstrap.Step;
import io.isolde.raft.Peer;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BootstrapTest {
  private static final List<Peer> THREE = List.of(peer(1), peer(2), peer(3));

  private static final UUID GROUP = UUID.randomUUID();

  @TempDir Path directory;
  @TempDir Path records;

  @Test
  void whenNotAllAreThereThenNobodyStarts() {
    Bootstrap bootstrap = new Bootstrap(GROUP, THREE, files());
    assertThat(bootstrap.next(List.of(Reply.NOT_FOUNDED, Reply.NOT_YET))).isEqualTo(Step.WAIT);
    assertThat(bootstrap.onProbe(THREE)).isEqualTo(Reply.NOT_FOUNDED);
  }

  @Test
  void whenAllAreNewThenTheyNoteThatFirstAndStartWhenAllHave() {
    Bootstrap bootstrap = new Bootstrap(GROUP, THREE, files());
    assertThat(bootstrap.next(List.of(Reply.NOT_FOUNDED, Reply.NOT_FOUNDED))).isEqualTo(Step.WAIT);
    assertThat(bootstrap.onProbe(THREE)).isEqualTo(Reply.READY);
    assertThat(bootstrap.next(List.of(Reply.READY, Reply.NOT_FOUNDED))).isEqualTo(Step.WAIT);
    assertThat(bootstrap.next(List.of(Reply.READY, Reply.READY))).isEqualTo(Step.START);
  }

  @Test
  void whenOneStartedBeforeTheOtherHeardThenTheOtherStartsToo() {
    Bootstrap bootstrap = new Bootstrap(GROUP, THREE, files());
    assertThat(bootstrap.next(List.of(Reply.NOT_FOUNDED, Reply.READY))).isEqualTo(Step.WAIT);
    assertThat(bootstrap.next(List.of(Reply.FOUNDED, Reply.NOT_YET))).isEqualTo(Step.START);
  }

  @Test
  void whenTwoHaveLostTheirLogsThenNeitherVouchesForTheOther() {
    Bootstrap first = new Bootstrap(GROUP, THREE, OracleFiles.at(directory.resolve("1")));
    Bootstrap second = new Bootstrap(GROUP, THREE, OracleFiles.at(directory.resolve("2")));
    Reply ofFirst = first.onProbe(THREE);
    Reply ofSecond = second.onProbe(THREE);
    assertThat(first.next(List.of(ofSecond, Reply.FOUNDED))).isEqualTo(Step.LOG_LOST);
    assertThat(second.next(List.of(ofFirst, Reply.NOT_YET))).isEqualTo(Step.WAIT);
    assertThat(second.next(List.of(ofFirst, Reply.FOUNDED))).isEqualTo(Step.LOG_LOST);
  }

  @Test
  void whenTheLogIsThereThenTheNoteIsGoneAndTheLogIsStarted() throws Exception {
    Bootstrap bootstrap = new Bootstrap(GROUP, List.of(peer(1)), files());
    assertThat(bootstrap.next(List.of())).isEqualTo(Step.START);
    Files.createDirectory(directory.resolve(GROUP.toString()));
    bootstrap.started();
    assertThat(bootstrap.onProbe(THREE)).isEqualTo(Reply.FOUNDED);
    assertThat(bootstrap.next(List.of())).isEqualTo(Step.START);
    Files.delete(directory.resolve(GROUP.toString()));
    assertThat(bootstrap.next(List.of(Reply.FOUNDED))).isEqualTo(Step.LOG_LOST);
  }

  /** The directory may be a disk of its own. */
  @Test
  void whenOtherDirectoriesAreThereThenTheyAreNoLogAndStay() throws Exception {
    Path other = Files.createDirectory(directory.resolve("lost+found"));
    Bootstrap bootstrap = new Bootstrap(GROUP, List.of(peer(1)), files());
    assertThat(bootstrap.onProbe(List.of(peer(1)))).isEqualTo(Reply.NOT_FOUNDED);
    Files.createDirectory(directory.resolve(GROUP.toString()));
    bootstrap.joining();
    bootstrap.deleteLog();
    assertThat(bootstrap.hasLog()).isFalse();
    try (var left = Files.list(directory)) {
      assertThat(left).containsExactly(other);
    }
  }

  @Test
  void whenAMemberWasLetInThenItNeverFoundsAGroup() {
    Bootstrap bootstrap = new Bootstrap(GROUP, THREE, files());
    assertThat(bootstrap.membersToStart()).isEqualTo(THREE);
    bootstrap.joining();
    assertThat(new Bootstrap(GROUP, THREE, files()).membersToStart()).isEmpty();
  }

  @Test
  void whenAllHaveLostTheirLogsThenNobodyStartsBeforeTheLossIsAccepted() throws Exception {
    Bootstrap bootstrap = new Bootstrap(GROUP, THREE, files());
    bootstrap.started();
    List<Reply> allLost = List.of(Reply.LOST, Reply.LOST);
    assertThat(bootstrap.onProbe(THREE)).isEqualTo(Reply.LOST);
    assertThat(bootstrap.next(allLost)).isEqualTo(Step.LOST);
    assertThat(bootstrap.next(List.of(Reply.FOUNDED, Reply.LOST))).isEqualTo(Step.LOG_LOST);
    bootstrap.acceptLoss();
    assertThat(bootstrap.next(allLost)).isEqualTo(Step.WAIT);
    assertThat(bootstrap.next(List.of(Reply.NOT_FOUNDED, Reply.LOST))).isEqualTo(Step.WAIT);
    assertThat(bootstrap.next(List.of(Reply.NOT_FOUNDED, Reply.NOT_FOUNDED))).isEqualTo(Step.WAIT);
    assertThat(bootstrap.next(List.of(Reply.READY, Reply.READY))).isEqualTo(Step.START);
  }

  @Test
  void whenANodeWasRemovedThenItFoundsNothingAndThatIsNoLoss() throws Exception {
    Bootstrap bootstrap = new Bootstrap(GROUP, THREE, files());
    bootstrap.started();
    bootstrap.left();
    assertThat(bootstrap.next(List.of(Reply.FOUNDED, Reply.FOUNDED))).isEqualTo(Step.LEFT);
    assertThat(bootstrap.next(List.of(Reply.LOST, Reply.LOST))).isEqualTo(Step.LEFT);
    bootstrap.started();
    assertThat(bootstrap.next(List.of(Reply.LOST, Reply.LOST))).isEqualTo(Step.LOST);
  }

  @Test
  void whenFoundersDisagreeThenNobodyStarts() throws Exception {
    Bootstrap bootstrap = new Bootstrap(GROUP, THREE, files());
    assertThat(bootstrap.onProbe(List.of(peer(1), peer(2)))).isEqualTo(Reply.OTHER_INITIAL_MEMBERS);
    assertThat(bootstrap.next(List.of(Reply.OTHER_INITIAL_MEMBERS, Reply.READY)))
        .isEqualTo(Step.DISAGREEMENT);
    assertThat(directory).isEmptyDirectory();
  }

  private OracleFiles files() {
    return new OracleFiles(directory, records.resolve("record"));
  }

  private static Peer peer(int number) {
    return new Peer("member" + number, InetSocketAddress.createUnresolved("host", 7000 + number));
  }
}
