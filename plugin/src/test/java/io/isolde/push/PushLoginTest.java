// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.cassandra.exceptions.AuthenticationException;
import org.apache.cassandra.exceptions.OverloadedException;
import org.apache.cassandra.exceptions.UnauthorizedException;
import org.junit.jupiter.api.Test;

class PushLoginTest {
  private static Exception notNow() {
    return new OverloadedException("too few replicas");
  }

  @Test
  void whenRolesCannotBeReadThenTheRefusalPasses() {
    assertThat(PushLogin.isPassing(new AuthenticationException("", new Exception(notNow()))))
        .isTrue();
    assertThat(PushLogin.isPassing(new UnauthorizedException("", notNow()))).isTrue();
  }

  @Test
  void whenThePasswordIsWrongThenTheRefusalStays() {
    assertThat(PushLogin.isPassing(new AuthenticationException("wrong"))).isFalse();
    assertThat(PushLogin.isPassing(new UnauthorizedException("", new Exception("x")))).isFalse();
  }
}
