// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.transport.PeerConnection;
import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AnsweredOnceTest {
  private static final Leading NOBODY = new Leading(false, 1, Optional.empty(), List.of());

  @Test
  void whenARefusedEntryIsAppliedAfterAllThenTheRequestIsNotAnsweredAgain() {
    Recorder connection = new Recorder();
    Request request = new Request(connection, 5);
    request.notLeader(NOBODY);
    ByteBuf late = Wire.of(Protocol.OK, 8);
    request.answer(late);
    request.write(new Stable(9, 0));
    assertThat(connection.statuses).containsExactly(Protocol.NOT_LEADER);
    assertThat(late.refCnt()).isZero();
  }

  private static final class Recorder implements PeerConnection {
    private final List<Byte> statuses = new ArrayList<>();

    @Override
    public void write(long requestId, ByteBuf body) {
      statuses.add(body.readByte());
      body.release();
    }

    @Override
    public void flush() {}

    @Override
    public void fail(long requestId, String message) {}

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public InetSocketAddress remoteAddress() {
      return InetSocketAddress.createUnresolved("nowhere", 1);
    }

    @Override
    public void close() {}
  }
}
