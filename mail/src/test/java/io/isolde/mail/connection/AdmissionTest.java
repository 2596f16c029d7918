// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;

class AdmissionTest {
  private final Admission admission = new Admission(3, 2);

  private static InetAddress address(int last) throws Exception {
    return InetAddress.getByName("192.0.2." + last);
  }

  @Test
  void whenAnAddressHasItsConnectionsThenOthersGetIn() throws Exception {
    assertThat(admission.tryEnter(address(1))).isTrue();
    assertThat(admission.tryEnter(address(1))).isTrue();
    assertThat(admission.tryEnter(address(1))).isFalse();
    assertThat(admission.tryEnter(address(2))).isTrue();
  }

  @Test
  void whenThereIsNoRoomThenSomebodyHasToLeaveFirst() throws Exception {
    for (int i = 1; i <= 3; i++) {
      assertThat(admission.tryEnter(address(i))).isTrue();
    }
    assertThat(admission.tryEnter(address(4))).isFalse();
    admission.leave(address(2));
    assertThat(admission.tryEnter(address(4))).isTrue();
    assertThat(admission.connections()).isEqualTo(3);
  }

  @Test
  void whenAHostHasManyAddressesOfANetworkThenTheyCountAsOne() throws Exception {
    assertThat(admission.tryEnter(InetAddress.getByName("2001:db8::1"))).isTrue();
    assertThat(admission.tryEnter(InetAddress.getByName("2001:db8::2:1"))).isTrue();
    assertThat(admission.tryEnter(InetAddress.getByName("2001:db8::3"))).isFalse();
    assertThat(admission.tryEnter(InetAddress.getByName("2001:db8:0:1::3"))).isTrue();
    admission.leave(InetAddress.getByName("2001:db8::2:1"));
    assertThat(admission.tryEnter(InetAddress.getByName("2001:db8::3"))).isTrue();
  }
}
