// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.distance;

import com.sun.jna.LastErrorException;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import io.isolde.cluster.ToolException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A network device of Linux whose cable is this process: it reads the packets that are sent over
 * it, and writes those that are to arrive. It stays connected when it is moved to another network
 * namespace.
 */
final class Tun {
  static final String DEVICE = "/dev/net/tun";
  static final int MTU = 9_000;

  private static final int READ_AND_WRITE = 2;
  private static final long TUNSETIFF = 0x400454caL;
  private static final short IFF_TUN = 0x0001;
  private static final short IFF_NO_PI = 0x1000;

  /** Of {@code struct ifreq}: a name of 16 bytes, then the flags. */
  private static final int REQUEST_BYTES = 40;

  private static final int FLAGS_AT = 16;

  /** The C library's. */
  private static final class Libc {
    static {
      Native.register("c");
    }

    private Libc() {}

    static native int open(String path, int flags) throws LastErrorException;

    static native int ioctl(int file, NativeLong request, Memory argument)
        throws LastErrorException;

    static native NativeLong read(int file, byte[] into, NativeLong bytes)
        throws LastErrorException;

    static native NativeLong write(int file, byte[] from, NativeLong bytes)
        throws LastErrorException;
  }

  private final int file;

  /**
   * Creates the device, in this process's network namespace.
   *
   * @throws ToolException if the system does not let us
   */
  Tun(String name) {
    try (Memory request = new Memory(REQUEST_BYTES)) {
      request.clear();
      byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
      request.write(0, bytes, 0, bytes.length);
      request.setShort(FLAGS_AT, (short) (IFF_TUN | IFF_NO_PI));
      file = Libc.open(DEVICE, READ_AND_WRITE);
      var unused = Libc.ioctl(file, new NativeLong(TUNSETIFF), request);
    } catch (LastErrorException e) {
      throw new ToolException("The network device " + name + " can't be created: " + e + ".", e);
    }
  }

  /** Waits for the next packet. */
  byte[] read() {
    byte[] packet = new byte[MTU];
    int length = Libc.read(file, packet, new NativeLong(packet.length)).intValue();
    return Arrays.copyOf(packet, length);
  }

  /** Lets a packet arrive. */
  void write(byte[] packet) {
    var unused = Libc.write(file, packet, new NativeLong(packet.length));
  }
}
