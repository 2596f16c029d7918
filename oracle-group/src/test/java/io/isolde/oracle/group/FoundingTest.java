// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.group.Founding.Reply;
import io.isolde.oracle.group.Founding.Step;
import io.isolde.raft.Peer;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FoundingTest {
  private static final List<Peer> THREE = List.of(peer(1), peer(2), peer(3));

  @TempDir Path directory;

  @Test
  void whenNotAllAreThereThenNobodyStarts() {
    Founding founding = new Founding(THREE, directory);
    assertThat(founding.next(List.of(Reply.NOT_FOUNDED, Reply.NOT_YET))).isEqualTo(Step.WAIT);
    assertThat(founding.onProbe(THREE)).isEqualTo(Reply.NOT_FOUNDED);
  }

  @Test
  void whenAllAreNewThenTheyNoteThatFirstAndStartWhenAllHave() {
    Founding founding = new Founding(THREE, directory);
    assertThat(founding.next(List.of(Reply.NOT_FOUNDED, Reply.NOT_FOUNDED))).isEqualTo(Step.WAIT);
    assertThat(founding.onProbe(THREE)).isEqualTo(Reply.READY);
    assertThat(founding.next(List.of(Reply.READY, Reply.NOT_FOUNDED))).isEqualTo(Step.WAIT);
    assertThat(founding.next(List.of(Reply.READY, Reply.READY))).isEqualTo(Step.START);
  }

  @Test
  void whenOneStartedBeforeTheOtherHeardThenTheOtherStartsToo() {
    Founding founding = new Founding(THREE, directory);
    assertThat(founding.next(List.of(Reply.NOT_FOUNDED, Reply.READY))).isEqualTo(Step.WAIT);
    assertThat(founding.next(List.of(Reply.FOUNDED, Reply.NOT_YET))).isEqualTo(Step.START);
  }

  @Test
  void whenTwoHaveLostTheirLogsThenNeitherVouchesForTheOther() {
    Founding first = new Founding(THREE, directory.resolve("1"));
    Founding second = new Founding(THREE, directory.resolve("2"));
    Reply ofFirst = first.onProbe(THREE);
    Reply ofSecond = second.onProbe(THREE);
    assertThat(first.next(List.of(ofSecond, Reply.FOUNDED))).isEqualTo(Step.LOG_LOST);
    assertThat(second.next(List.of(ofFirst, Reply.NOT_YET))).isEqualTo(Step.WAIT);
    assertThat(second.next(List.of(ofFirst, Reply.FOUNDED))).isEqualTo(Step.LOG_LOST);
  }

  @Test
  void whenTheLogIsThereThenTheNoteIsGoneAndTheLogIsStarted() throws Exception {
    Founding founding = new Founding(List.of(peer(1)), directory);
    assertThat(founding.next(List.of())).isEqualTo(Step.START);
    Files.createDirectory(directory.resolve("log"));
    founding.started();
    assertThat(founding.onProbe(THREE)).isEqualTo(Reply.FOUNDED);
    assertThat(founding.next(List.of())).isEqualTo(Step.START);
    Files.delete(directory.resolve("log"));
    assertThat(founding.next(List.of(Reply.FOUNDED))).isEqualTo(Step.LOG_LOST);
  }

  @Test
  void whenAMemberWasLetInThenItNeverFoundsAGroup() {
    Founding founding = new Founding(THREE, directory);
    assertThat(founding.initialMembers()).isEqualTo(THREE);
    founding.joining();
    assertThat(new Founding(THREE, directory).initialMembers()).isEmpty();
  }

  @Test
  void whenFoundersDisagreeThenNobodyStarts() throws Exception {
    Founding founding = new Founding(THREE, directory);
    assertThat(founding.onProbe(List.of(peer(1), peer(2)))).isEqualTo(Reply.OTHER_FOUNDERS);
    assertThat(founding.next(List.of(Reply.OTHER_FOUNDERS, Reply.READY)))
        .isEqualTo(Step.DISAGREEMENT);
    assertThat(directory).isEmptyDirectory();
  }

  private static Peer peer(int number) {
    return new Peer("member" + number, InetSocketAddress.createUnresolved("host", 7000 + number));
  }
}
