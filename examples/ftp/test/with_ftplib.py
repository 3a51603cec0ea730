"""The server against Python's ftplib. Arguments: the port, the contents of the file big."""

import ftplib
import io
import sys

port, big = int(sys.argv[1]), open(sys.argv[2], "rb").read()


def refused(f, *args):
    try:
        f(*args)
    except ftplib.error_perm:
        return
    sys.exit(f"not refused: {args}")


with ftplib.FTP() as ftp:
    ftp.connect("127.0.0.1", port, timeout=20)
    ftp.login()
    for passive in "PASV", "EPSV":
        if passive == "EPSV":
            ftp.af = __import__("socket").AF_INET6  # by which ftplib chooses the command
        assert ftp.nlst() == ["big", "hello.txt", "sub", "upload"], ftp.nlst()
        lines = []
        ftp.retrlines("LIST sub", lines.append)
        assert len(lines) == 1 and lines[0].endswith(" deep.txt"), lines
        got = io.BytesIO()
        ftp.retrbinary("RETR big", got.write)
        assert got.getvalue() == big
        tail = io.BytesIO()
        ftp.retrbinary("RETR big", tail.write, rest=len(big) - 10)
        assert tail.getvalue() == big[-10:]
        ftp.storbinary(f"STOR upload/{passive}", io.BytesIO(big))
        assert ftp.size(f"upload/{passive}") == len(big)
        refused(ftp.storbinary, "STOR new", io.BytesIO(b"x"))
        refused(ftp.cwd, "outside")
    assert ftp.pwd() == "/"
    ftp.cwd("sub")
    assert ftp.pwd() == "/sub"
    ftp.cwd("../../..")
    assert ftp.pwd() == "/"
    ftp.quit()
print("done")
