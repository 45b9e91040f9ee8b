FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY constraints constraints
COPY service service
COPY migrations migrations
RUN python -m venv /opt/memplan \
    && /opt/memplan/bin/pip install --no-cache-dir --constraint constraints/3.13.txt '.[postgres]'

FROM python:3.13-slim
RUN useradd --system --create-home --home-dir /var/lib/memplan memplan
COPY --from=build /opt/memplan /opt/memplan
ENV PATH=/opt/memplan/bin:$PATH \
    PYTHONUNBUFFERED=1
# Without MEMPLAN_DATABASE_URL the plans go to a SQLite file here, so this is what to keep.
WORKDIR /var/lib/memplan
VOLUME /var/lib/memplan
USER memplan
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
CMD ["memplan", "serve", "--host", "0.0.0.0", "--port", "8000"]
