// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Builds of several formats at one port. */
class FormatsTest {
  private static PeerTransport listen(int newest, int oldest) throws Exception {
    return PeerTransport.builder("n" + newest)
        .formats(new Formats(newest, oldest))
        .application(new Echo())
        .listen(Echo.ANY);
  }

  private static PeerClient connect(PeerTransport from, PeerTransport to) throws Exception {
    return from.connect(to.address(), () -> {}).get(5, TimeUnit.SECONDS);
  }

  @ParameterizedTest
  @CsvSource({"3,3,3,3", "3,2,3,3", "3,2,4,3", "5,2,4,3"})
  void whenRangesMeetThenBuildsTalk(int newest, int oldest, int otherNewest, int otherOldest)
      throws Exception {
    try (PeerTransport one = listen(newest, oldest);
        PeerTransport other = listen(otherNewest, otherOldest);
        PeerClient there = connect(one, other);
        PeerClient back = connect(other, one)) {
      assertThat(Echo.ask(there, "there").get(5, TimeUnit.SECONDS)).isEqualTo("there");
      assertThat(Echo.ask(back, "back").get(5, TimeUnit.SECONDS)).isEqualTo("back");
      assertThat(one.otherBuild()).isEmpty();
      assertThat(other.otherBuild()).isEmpty();
    }
  }

  @Test
  void whenRangesDoNotMeetThenBothSidesRefuseAndSayWhy() throws Exception {
    try (PeerTransport old = listen(3, 2);
        PeerTransport young = listen(5, 4)) {
      assertThatThrownBy(() -> connect(young, old))
          .cause()
          .isInstanceOfSatisfying(
              TransportException.class,
              e -> assertThat(e.reason()).isEqualTo(TransportException.Reason.OTHER_FORMAT))
          .hasMessageContaining("speaks formats 2 to 3 of messages, and this node's speaks formats")
          .hasMessageContaining("4 to 5, so they do not talk");
      assertThat(old.otherBuild())
          .hasValueSatisfying(
              said -> assertThat(said).contains("speaks formats 4 to 5", "formats 2 to 3, so"));
      assertThat(young.otherBuild()).isPresent();
    }
  }

  @Test
  void whenAPeerComesBackWithABuildThatWeUnderstandThenNothingIsSaidOfItAnyMore() throws Exception {
    try (PeerTransport old = listen(3, 2)) {
      try (PeerTransport young = listen(5, 4)) {
        assertThatThrownBy(() -> connect(young, old)).isNotNull();
        assertThat(old.otherBuild()).isPresent();
      }
      try (PeerTransport between = listen(4, 3);
          PeerClient client = connect(between, old)) {
        assertThat(Echo.ask(client, "again").get(5, TimeUnit.SECONDS)).isEqualTo("again");
        assertThat(old.otherBuild()).isEmpty();
      }
    }
  }

  @Test
  void whenABuildDoesNotTellItsFormatsThenItIsRefusedAndSaid() throws Exception {
    try (PeerTransport server = listen(2, 2);
        Socket socket = new Socket(server.address().getAddress(), server.address().getPort())) {
      socket.setSoTimeout(5000);
      byte[] greeting = {'I', 'S', 'O', '1', 'n', '1'};
      ByteBuffer frame = ByteBuffer.allocate(13 + greeting.length).putInt(9 + greeting.length);
      frame.put(Frame.GREETING).putLong(Frame.PURPOSE_RAFT).put(greeting);
      socket.getOutputStream().write(frame.array());
      InputStream in = socket.getInputStream();
      assertThat(in.read()).isEqualTo(-1);
      assertThat(server.otherBuild())
          .hasValueSatisfying(said -> assertThat(said).contains("speaks format 1 of messages"));
    }
  }
}
