// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.smtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.james.protocols.api.Response;
import org.apache.james.protocols.smtp.SMTPSession;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReceivingFilterTest {
  private static final int MAX = 1_000;

  private final AtomicLong nanos = new AtomicLong();
  private final ReceivingMemory memory = new ReceivingMemory(10 * MAX, 10 * MAX);
  private final ReceivingFilter filter = new ReceivingFilter(MAX, memory, nanos::get);
  private final SMTPSession session = mock();

  @BeforeEach
  void remember() {
    AtomicReference<Object> receiving = new AtomicReference<>();
    when(session.getAttachment(any(), any()))
        .thenAnswer(call -> Optional.ofNullable(receiving.get()));
    when(session.setAttachment(any(), any(), any()))
        .thenAnswer(call -> Optional.ofNullable(receiving.getAndSet(call.getArgument(1))));
    when(session.removeAttachment(any(), any()))
        .thenAnswer(call -> Optional.ofNullable(receiving.getAndSet(null)));
    when(session.getRemoteAddress())
        .thenReturn(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1));
  }

  private Response line(String line) {
    return filter.onLine(
        session, (line + "\r\n").getBytes(StandardCharsets.US_ASCII), (of, bytes) -> null);
  }

  @Test
  void whenAClientSendsALineNowAndThenThenTheMessageEndsAfterAWhile() {
    assertThat(line("Subject: slow")).isNull();
    nanos.addAndGet(ReceivingFilter.MAX_TIME.toNanos());
    assertThat(line("")).isNull();
    nanos.incrementAndGet();
    Response last = line("x");
    assertThat(last.getRetCode()).isEqualTo("421");
    assertThat(last.isEndSession()).isTrue();
    assertThat(line("y")).as("once").isNull();
    filter.onDisconnect(session);
    assertThat(filter.reservedBytes()).isZero();
  }

  @Test
  void whenALineIsReceivedThenTwiceItsBytesAreReserved() {
    assertThat(line("x".repeat(98))).isNull();
    assertThat(filter.reservedBytes()).isEqualTo(200);
    filter.onDisconnect(session);
    assertThat(filter.reservedBytes()).isZero();
  }

  @Test
  void whenAMessageHasAMessageIdInItsHeaderThenItIsKnownByIt() {
    line("message-ID: <1@x>");
    line("");
    assertThat(ReceivingFilter.digest(session)).isPresent();
  }

  @Test
  void whenOnlyTheBodyHasAMessageIdThenTheMessageIsOneOfItsOwn() {
    line("Subject: x");
    line("");
    line("Message-ID: <1@x>");
    assertThat(ReceivingFilter.digest(session)).isEmpty();
  }
}
